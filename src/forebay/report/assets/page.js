"use strict";
// What every page of forebay has: its data, its figures, light and dark. Sections add steps with `forebay.step`: they run
// before any figure is drawn, so whatever they set in one is drawn once.
const forebay = {
  steps: [],
  figures: new Map(),
  first: [],
  ready: null,

  step(work) { this.steps.push(work); },

  data(name) { return JSON.parse(document.getElementById(`data-${name}`).textContent); },

  // Columns that Python has packed, as typed arrays by name. Whoever asks again gets them from the text again.
  async unpack(name) {
    const letters = atob(document.getElementById(`packed-${name}`).textContent);
    const packed = new Uint8Array(letters.length);
    for (let k = 0; k < letters.length; k++) packed[k] = letters.charCodeAt(k);
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
    const buffer = await new Response(stream).arrayBuffer();
    const size = new DataView(buffer).getUint32(0, true);
    const told = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, size)));
    const kinds = { u1: Uint8Array, u2: Uint16Array, u4: Uint32Array, f4: Float32Array, f8: Float64Array };
    const columns = {};
    for (const one of told) {
      const values = new kinds[one.type](buffer, 4 + size + one.at, one.size);
      if (one.kind === "seconds") {
        const times = new Float64Array(one.size);
        let now = 0;
        for (let k = 0; k < one.size; k++) {
          now = (now + values[k]) | 0;
          times[k] = now === 0x7fffffff ? NaN : now;
        }
        columns[one.name] = times;
      } else if (one.kind === "thousandths") {
        const times = columns[one.name];
        for (let k = 0; k < one.size; k++) if (values[k]) times[k] += values[k] / 1000;
      } else {
        columns[one.name] = values;
      }
    }
    return columns;
  },

  model(name) {
    for (const one of Bokeh.documents) {
      const found = one.get_model_by_name(name);
      if (found) return found;
    }
    return null;
  },

  duration(seconds) {
    if (!Number.isFinite(seconds)) return "-";
    if (seconds < 0) return `-${this.duration(-seconds)}`;
    if (seconds < 59.95) return `${Number(seconds.toPrecision(3))} s`;
    const units = [["d", 86400, "h", 3600], ["h", 3600, "min", 60], ["min", 60, "s", 1]];
    for (const [large, size, small, step] of units) {
      const all = Math.round(seconds / step);
      const [many, few] = [Math.floor(all / (size / step)), all % (size / step)];
      if (many >= 1) return `${many} ${large}` + (few ? ` ${few} ${small}` : "");
    }
    return `${Math.round(seconds)} s`;
  },

  bytes(amount) {
    const units = [[1e15, "PB"], [1e12, "TB"], [1e9, "GB"], [1e6, "MB"], [1e3, "kB"]];
    for (const [size, word] of units) if (amount >= size) return `${Number((amount / size).toPrecision(4))} ${word}`;
    return `${amount} B`;
  },

  dark() { return document.documentElement.dataset.theme === "dark"; },

  setTheme(theme) {
    document.documentElement.dataset.theme = theme;
    document.getElementById("theme").textContent = theme === "dark" ? "light" : "dark";
    if (window.Bokeh) this.paint();
  },

  // Bokeh draws on a canvas, which knows no style sheet: its figures get their colours from here.
  paint() {
    const style = getComputedStyle(document.documentElement);
    const [ink, soft, line] = ["--ink", "--soft", "--line"].map((name) => style.getPropertyValue(name).trim());
    for (const one of Bokeh.documents) {
      for (const model of [...one.all_models]) {
        const kind = model.type;
        if (kind.endsWith("Axis")) {
          model.setv({ axis_label_text_color: ink, major_label_text_color: ink, axis_line_color: soft,
            major_tick_line_color: soft, minor_tick_line_color: null });
        } else if (kind === "Grid") {
          model.setv({ grid_line_color: line });
        } else if (kind === "Title") {
          model.setv({ text_color: ink });
        } else if (kind === "Legend") {
          model.setv({ label_text_color: ink });
        } else if (model.tags && model.tags.includes("ink")) {
          const target = model.glyph || model;
          if ("line_color" in target.attributes) target.setv({ line_color: ink });
          if ("text_color" in target.attributes) target.setv({ text_color: ink });
        }
      }
    }
  },

  // Whether a graphics card draws. Where a program stands in for it, copying what it has drawn takes most of the time,
  // and the canvas is faster.
  accelerated() {
    const gl = document.createElement("canvas").getContext("webgl", { failIfMajorPerformanceCaveat: true });
    if (gl === null) return false;
    const more = gl.getExtension("WEBGL_debug_renderer_info");
    const card = String(gl.getParameter(more ? more.UNMASKED_RENDERER_WEBGL : gl.RENDERER));
    gl.getExtension("WEBGL_lose_context")?.loseContext();  // a page has few of them
    return !/swiftshader|llvmpipe|softpipe|software|basic render/i.test(card);
  },

  // Figures as documents that nothing shows yet; each keeps its place free.
  read() {
    const { Document } = Bokeh.require("document"), slow = !this.accelerated();
    for (const item of this.data("plots")) {
      const made = Document.from_json(item.doc), element = document.getElementById(item.target_id);
      const [root] = made.roots(), lanes = root.children ?? [root];
      element.style.minHeight = `${lanes.reduce((sum, lane) => sum + lane.height, 0)}px`;
      if (slow) for (const lane of lanes) lane.output_backend = "canvas";
      this.figures.set(item.target_id, { made, element, shown: false });
    }
    this.paint();
  },

  async show(figure) {
    figure.shown = true;
    await Bokeh.embed.add_document_standalone(figure.made, figure.element);
    figure.element.style.minHeight = "";
  },

  // The figure to draw next: one on the screen, one that a section wants first, the nearest.
  next() {
    const far = ({ element }) => {
      const { top, bottom } = element.getBoundingClientRect();
      if (top < innerHeight && bottom > 0) return -2;
      return this.first.includes(element.id) ? -1 : Math.min(Math.abs(top - innerHeight), Math.abs(bottom));
    };
    const waiting = [...this.figures.values()].filter((figure) => !figure.shown);
    return waiting.sort((one, other) => far(one) - far(other))[0];
  },

  // Marks the section that is read in the table of contents: the last one that has come to the top of the screen.
  follow() {
    const links = [...document.querySelectorAll("nav a")];
    const sections = links.map((link) => document.querySelector(link.getAttribute("href")));
    let marked = null;
    const mark = () => {
      const end = innerHeight + scrollY >= document.documentElement.scrollHeight - 2;
      let place = end ? sections.length - 1 : 0;
      if (!end) sections.forEach((one, k) => { if (one.getBoundingClientRect().top < 100) place = k; });
      if (links[place] === marked) return;
      marked?.removeAttribute("aria-current");
      marked = links[place];
      marked.setAttribute("aria-current", "true");
      const bar = marked.parentElement;
      bar.scrollTo({ left: marked.offsetLeft - bar.offsetLeft - 20, top: marked.offsetTop - bar.offsetTop - 100 });
    };
    if (!links.length) return;
    addEventListener("scroll", mark, { passive: true });
    addEventListener("resize", mark);
    mark();
  },

  // Paper is light, and narrower than most screens: for it, each figure becomes a picture of that width. All of this
  // happens before the browser goes on, so nothing may wait.
  toPaper() {
    if (this.paper) return;
    const closed = [...document.querySelectorAll("details:not([open])")], pictures = [];
    this.paper = { dark: this.dark(), closed, pictures };
    for (const one of closed) one.open = true;
    this.setTheme("light");
    for (const { made, element, shown } of this.figures.values()) {
      const [root] = made.roots(), view = shown && Bokeh.index.find_one(root);
      if (!view) continue;
      const width = element.closest(".pair:not(.apart)") ? 345 : 700;
      element.style.width = `${width}px`;
      view.compute_layout();
      const picture = document.createElement("div");
      for (const one of root.children ? view.child_views : [view]) {
        if (!one.model.visible) continue;
        const image = document.createElement("img");
        image.className = "printed";
        image.src = `data:image/svg+xml,${encodeURIComponent(one.export("svg").ctx.get_serialized_svg(true))}`;
        picture.append(image);
      }
      element.after(picture);
      element.style.display = "none";
      pictures.push({ element, picture, view });
    }
  },

  toScreen() {
    const { dark, closed, pictures } = this.paper ?? {};
    if (!pictures) return;
    this.paper = null;
    for (const one of closed) one.open = false;
    for (const { element, picture, view } of pictures) {
      picture.remove();
      element.style.width = element.style.display = "";
      view.compute_layout();
    }
    this.setTheme(dark ? "dark" : "light");
  },

  async begin() {
    this.follow();
    addEventListener("beforeprint", () => this.toPaper());
    addEventListener("afterprint", () => this.toScreen());
    const wanted = window.matchMedia("(prefers-color-scheme: dark)");
    this.setTheme(wanted.matches ? "dark" : "light");
    wanted.addEventListener("change", () => this.setTheme(wanted.matches ? "dark" : "light"));
    document.getElementById("theme").addEventListener("click", () => this.setTheme(this.dark() ? "light" : "dark"));
    this.ready = (async () => {
      if (window.Bokeh) this.read();
      for (const work of this.steps) await work();
      for (let figure = this.next(); figure; figure = this.next()) {
        await this.show(figure);
        await new Promise((resolve) => { setTimeout(resolve); });  // so that the page scrolls meanwhile
      }
      document.documentElement.dataset.ready = "yes";
    })();
    await this.ready;
  },
};
