// The schedule: unpacks the runs that are chosen, fills the lanes, and tells of the job under the pointer.
forebay.tick = function (seconds) {
  if (seconds === 0) return "0";
  const parts = [];
  let rest = Math.abs(seconds);
  for (const [size, unit] of [[86400, "d"], [3600, "h"], [60, "min"]]) {
    const many = Math.floor(rest / size + 1e-9);
    if (many) parts.push(`${many} ${unit}`);
    rest -= many * size;
  }
  if (rest > 1e-6) parts.push(`${Number(rest.toFixed(3))} s`);
  return (seconds < 0 ? "\u2212" : "") + parts.join(" ");
};

forebay.schedule = {
  told: null, jobs: null, shown: [null, null], first: 0, second: null,

  async open() {
    forebay.first.push("plot-schedule");
    this.told = forebay.data("schedule");
    this.jobs = await forebay.unpack("jobs");
    this.clock = forebay.model("clock");
    this.facts = document.createElement("div");
    this.facts.id = "facts";
    this.facts.hidden = true;
    this.facts.setAttribute("role", "tooltip");
    document.body.append(this.facts);
    const place = document.getElementById("plot-schedule");
    place.addEventListener("mouseleave", () => { this.facts.hidden = true; });
    for (const id of ["first", "second"]) {
      const select = document.getElementById(id);
      if (select) select.addEventListener("change", () => this.choose());
    }
    document.getElementById("colour").addEventListener("change", () => this.colour());
    document.getElementById("whole").addEventListener("click", () => this.whole());
    this.clock.change.connect(() => this.moved());
    window.addEventListener("resize", () => this.moved());
    await this.choose();
  },

  whole() {
    const [start, end] = this.told.span, margin = 0.01 * (end - start);
    this.clock.setv({ start: start - margin, end: end + margin });
  },

  async choose() {
    const [first, second] = ["first", "second"].map((id) => document.getElementById(id));
    this.first = first ? Number(first.value) : 0;
    this.second = second && second.value !== "" ? Number(second.value) : null;
    this.shown = [await this.read(this.first), this.second === null ? null : await this.read(this.second)];
    for (const place of [0, 1]) this.fill(place);
    this.differ();
    this.lanes();
    this.colour();
  },

  async read(place) {
    const run = await forebay.unpack(`run-${place}`);
    run.words = new TextDecoder().decode(run.words).split("\n");
    return run;
  },

  // Rectangles of a policy. A job's own times stand for those of its rectangles where there are none.
  fill(place) {
    const plot = forebay.model(`nodes-${place}`), run = this.shown[place];
    if (!plot) return;
    plot.visible = run !== null;
    if (run === null) return;
    const job = run["box-job"], n = job.length;
    const [left, right, top, bottom] = [0, 1, 2, 3].map(() => new Float64Array(n));
    for (let k = 0; k < n; k++) {
      left[k] = run["box-start"] ? run["box-start"][k] : run.start[job[k]];
      right[k] = run["box-end"] ? run["box-end"][k] : run.end[job[k]];
      top[k] = run["box-low"][k] - 0.5;
      bottom[k] = run["box-high"][k] + 0.5;
    }
    forebay.model(`title-${place}`).text = this.told.labels[place === 0 ? this.first : this.second];
    run.boxes = { left, right, top, bottom };
  },

  shade(run) {
    const way = document.getElementById("colour").value, told = this.told, jobs = this.jobs, n = jobs.id.length;
    const codes = new Float32Array(n), key = [];
    if (way === "wait") {
      for (let k = 0; k < n; k++) {
        const wait = run.start[k] - jobs.submit[k];
        codes[k] = told.waited.findIndex(([limit]) => wait < limit);
      }
      for (const [, colour, text] of told.waited) key.push([colour, text]);
    } else if (way === "size") {
      const colours = ["#fde725", "#5ec962", "#21918c", "#3b528b", "#440154"], most = Math.max(told.nodes, 2);
      const limits = [...new Set([1, 2, 3, 4].map((step) => Math.max(step, Math.round(most ** (step / 5)))))];
      for (let k = 0; k < n; k++) {
        const found = limits.findIndex((limit) => jobs.nodes[k] <= limit);
        codes[k] = found < 0 ? limits.length : found;
      }
      limits.forEach((limit, k) => {
        const low = k ? limits[k - 1] + 1 : 1;
        key.push([colours[k], low === limit ? `${limit} ${told.unit}${limit === 1 ? "" : "s"}` : `${low} to ${limit} ${told.unit}s`]);
      });
      key.push([colours[limits.length], `more than ${limits.at(-1)}`]);
    } else if (way === "user") {
      const places = new Map(told.users.map((user, k) => [user, k]));
      for (let k = 0; k < n; k++) codes[k] = places.get(jobs.user[k]) ?? told.users.length;
      told.users.forEach((user, k) => key.push([told.fills[k], `user ${user - 1}`]));
      key.push(["#bbbbbb", "others"]);
    } else {
      const used = run.tier ? [...new Set(run.tier)].sort((a, b) => run.words[a].localeCompare(run.words[b])) : [];
      for (let k = 0; k < n; k++) codes[k] = run.tier ? used.indexOf(run.tier[k]) : 0;
      used.forEach((tier, k) => key.push([told.fills[k % told.fills.length], run.words[tier]]));
      if (!used.length) key.push(["#bbbbbb", "no tier"]);
    }
    return { codes, key };
  },

  colour() {
    for (const place of [0, 1]) {
      const run = this.shown[place];
      if (!run) continue;
      const { codes, key } = this.shade(run), job = run["box-job"];
      const shade = new Float32Array(job.length);
      for (let k = 0; k < job.length; k++) shade[k] = codes[job[k]];
      const palette = key.map(([colour]) => colour);
      forebay.model(`shades-${place}`).setv({ palette, low: -0.5, high: palette.length - 0.5 });
      forebay.model(`boxes-${place}`).data = { ...run.boxes, shade };
      if (place === 0) this.legend(key);
    }
  },

  legend(key) {
    const place = document.getElementById("key");
    place.replaceChildren(...key.map(([colour, text]) => this.sample(colour, text)));
    if (this.second !== null) {
      const line = this.sample("#d55e00", `${this.told.labels[this.second]} in the lanes below`);
      line.firstChild.className = "line";
      line.firstChild.style = "border-color: #d55e00";
      place.append(line);
    }
  },

  sample(colour, text) {
    const [entry, box] = [document.createElement("span"), document.createElement("i")];
    box.style.background = colour;
    entry.append(box, text);
    return entry;
  },

  // Who starts earlier under the second policy, and who later.
  differ() {
    const source = forebay.model("shift"), plot = forebay.model("differences");
    if (!source) return;
    const told = document.getElementById("shifted"), [one, two] = this.shown;
    plot.visible = two !== null;
    told.textContent = "";
    if (two === null) return;
    const n = this.jobs.id.length, x = [], y = [], shade = [], job = [];
    let [earlier, later, same, most] = [0, 0, 0, 60];
    for (let k = 0; k < n; k++) {
      const shift = two.start[k] - one.start[k];
      if (Number.isNaN(shift)) continue;
      if (Math.abs(shift) < 0.0015) same += 1;
      else if (shift < 0) earlier += 1;
      else later += 1;
      most = Math.max(most, Math.abs(shift));
      x.push(this.jobs.submit[k]);
      y.push(Math.asinh(shift / 60));
      shade.push(Math.abs(shift) < 0.0015 ? 0 : Math.sign(shift));
      job.push(k);
    }
    source.data = { x, y, shade, job };
    const edge = 1.06 * Math.asinh(most / 60);
    forebay.model("shifts").setv({ start: -edge, end: edge });
    const [first, second] = [this.told.labels[this.first], this.told.labels[this.second]];
    const count = (n) => n.toLocaleString("en-US");
    told.textContent = `Under ${second} rather than ${first}, ${count(earlier)} jobs start earlier, ${count(later)} later, ` +
      `and ${count(same)} at the same time. Each dot is a job, at the time it was submitted; green is earlier.`;
  },

  // Steps of each lane in the visible time; where these are too many to tell apart, means over intervals.
  lanes() {
    const width = Math.max(document.getElementById("plot-schedule").clientWidth - 90, 200);
    this.told.lanes.forEach((lane, k) => {
      const sign = lane.unit === "bytes/s" && lane.name.endsWith("write") ? -1 : 1;
      for (const place of [0, 1]) {
        const run = this.shown[place], source = forebay.model(`steps-${k}-${place}`);
        if (run === null) { source.data = { x: [], y: [] }; continue; }
        source.data = this.steps(run[`lane-${k}-time`], run[`lane-${k}-value`], sign, width);
      }
    });
    this.told.lanes.forEach((lane, k) => { if (lane.capacity === 0) this.range(k, lane); });
    this.ticks(width);
  },

  // A lane without a capacity is as high as what it shows; that of the file system, where reads go up and writes down,
  // has its range at its first half.
  range(k, lane) {
    const range = forebay.model(`range-${k}`);
    if (!range) return;
    const both = lane.unit === "bytes/s", sources = [0, 1].flatMap((place) => [`steps-${k}-${place}`, `steps-${k + 1}-${place}`]);
    let top = 0;
    for (const name of both ? sources : sources.filter((one) => one.startsWith(`steps-${k}-`))) {
      for (const value of forebay.model(name).data.y) if (Math.abs(value) > top) top = Math.abs(value);
    }
    top = 1.08 * (top || 1);
    range.setv({ start: both ? -top : 0, end: top });
  },

  steps(times, values, sign, width) {
    const { start, end } = this.clock;
    const place = (time) => {
      let [low, high] = [0, times.length];
      while (low < high) { const middle = (low + high) >> 1; if (times[middle] <= time) low = middle + 1; else high = middle; }
      return low;
    };
    const from = Math.max(place(start) - 1, 0), to = Math.min(place(end) + 1, times.length);
    if (to - from <= 2 * width) {
      const x = Array.from(times.subarray(from, to)), y = Array.from(values.subarray(from, to), (value) => sign * value);
      if (!x.length) return { x: [start, end], y: [0, 0] };
      x.push(Math.max(end, x.at(-1)));
      y.push(y.at(-1));
      return { x, y };
    }
    const [x, y] = [new Float64Array(width + 1), new Float64Array(width + 1)], step = (end - start) / width;
    let k = Math.max(place(start) - 1, 0), at = start;
    for (let bin = 0; bin < width; bin++) {
      const until = start + (bin + 1) * step;
      let area = 0;
      while (at < until) {
        const next = k + 1 < times.length ? Math.min(times[k + 1], until) : until;
        if (next > at) { area += (at >= times[k] ? values[k] : 0) * (next - at); at = next; }
        if (k + 1 < times.length && at >= times[k + 1]) k += 1;
      }
      x[bin] = start + bin * step;
      y[bin] = sign * area / step;
    }
    x[width] = end;
    y[width] = y[width - 1];
    return { x, y };
  },

  ticks(width) {
    const { start, end } = this.clock, most = Math.max(3, Math.floor(width / 95));
    const steps = [0.001, 0.01, 0.1, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200,
      ...[1, 2, 3, 5, 7, 14, 30, 60, 90, 180, 365, 730, 1825, 3650].map((days) => 86400 * days)];
    const step = steps.find((one) => (end - start) / one <= most) ?? (end - start) / most;
    const ticks = [];
    for (let k = Math.ceil(start / step); k * step <= end; k++) ticks.push(k * step);
    forebay.model("ticks").ticks = ticks;
  },

  moved() {
    if (this.waiting) return;
    this.waiting = requestAnimationFrame(() => { this.waiting = null; this.lanes(); });
  },

  hover(place, about) {
    const found = about.index.indices, geometry = about.geometry;
    if (!found.length) {
      if (this.over === place || this.over === undefined) this.facts.hidden = true;
      return;
    }
    this.over = place;
    const k = found.at(-1);
    const job = place === 2 ? forebay.model("shift").data.job[k] : this.shown[place]["box-job"][k];
    this.tell(job, place === 1 ? [1] : place === 2 ? [0, 1] : [0]);
    const plot = forebay.model(place === 2 ? "differences" : `nodes-${place}`);
    const box = Bokeh.index.find_one ? Bokeh.index.find_one(plot).el.getBoundingClientRect() : { left: 0, top: 0 };
    const [wide, high] = [this.facts.offsetWidth, this.facts.offsetHeight];
    const x = box.left + geometry.sx + 16, y = box.top + geometry.sy + 16;
    this.facts.style.left = `${Math.max(4, x + wide > innerWidth ? x - wide - 32 : x)}px`;
    this.facts.style.top = `${Math.max(4, y + high > innerHeight ? y - high - 32 : y)}px`;
  },

  // Text of a job goes in as text: whatever a trace calls its users, nothing of it is markup.
  tell(job, places) {
    const { jobs, told } = this, rows = [["job", `${jobs.id[job]}`]];
    rows.push(["user", jobs.user[job] ? `${jobs.user[job] - 1}` : "-"], [`${told.unit}s`, `${jobs.nodes[job]}`]);
    told.buffers.forEach(({ name, counts }, k) => {
      const amount = jobs[`buffer-${k}`][job];
      rows.push([name.replaceAll("_", " "), counts ? `${amount}` : forebay.bytes(amount)]);
    });
    rows.push(["walltime", forebay.duration(jobs.walltime[job])], ["submit", forebay.tick(Math.round(jobs.submit[job]))]);
    for (const place of places) {
      const run = this.shown[place];
      if (places.length > 1) rows.push(["under", told.labels[place === 0 ? this.first : this.second]]);
      rows.push(["start", forebay.tick(Math.round(run.start[job]))], ["end", forebay.tick(Math.round(run.end[job]))]);
      rows.push(["wait", forebay.duration(run.start[job] - jobs.submit[job])]);
      if (run.tier) rows.push(["tier", run.words[run.tier[job]]]);
      this.reasons(run, job).forEach((text, k) => rows.push([k ? "" : "because", text]));
    }
    const list = document.createElement("dl");
    for (const [word, what] of rows) {
      const [term, meaning] = [document.createElement("dt"), document.createElement("dd")];
      term.textContent = word;
      meaning.textContent = what;
      list.append(term, meaning);
    }
    this.facts.replaceChildren(list);
    this.facts.hidden = false;
  },

  reasons(run, job) {
    const of = run["reason-job"], found = [];
    if (!of) return found;
    let [low, high] = [0, of.length];
    while (low < high) { const middle = (low + high) >> 1; if (of[middle] < job) low = middle + 1; else high = middle; }
    for (let k = low; k < of.length && of[k] === job; k++) {
      const [word, detail] = [run.words[run["reason-word"][k]], run.words[run["reason-detail"][k]]];
      found.push(`${detail || word.replaceAll("_", " ")}: ${forebay.duration(run["reason-seconds"][k])}`);
    }
    return found;
  },
};
forebay.step(() => forebay.schedule.open());
