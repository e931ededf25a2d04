"""Play a scenario in SimGrid: read it as JSON from standard input, write what happened as JSON to standard output.

Run by the Python that has the `simgrid` module (Debian's, 3.32), so it needs nothing else. In:

- `links`: {name: bytes/s}; or `platform`, a file of SimGrid's own that describes links, hosts and routes.
- `jobs`: lists of `phases`, gone through one after the other from time `start` on. A phase lasts `seconds` or
  has `streams`: `count` equal flows of `bytes` each (a whole number) over `links` (names), or between the two `hosts`
  of a platform. Each flow may go at `cap` bytes/s at most. A phase that runs `beside` does not hold up the next; the
  others are broken off at time `kill`. A phase may also have a `task`: each of its `hosts` computes `flop` and sends
  `bytes` to each other one (under host/model ptask_L07 only).
- `routes`: hosts between all pairs of which the names of the links are wanted.
- `config`: settings of SimGrid to override those below.

Out: for each job, `ends`, the time at which each phase ended or was broken off (null: never begun), and `left`, the
bytes that it had not moved by then; and `routes`, the links from each host to each other.
"""

import json
import sys

import simgrid

CONFIG = {
    # Plain max-min sharing of what links are said to carry. The default model takes 3 % off for protocol headers.
    "network/model": "CM02",
    # Traffic takes nothing from the links of the way back.
    "network/crosstraffic": "0",
}


class Machine:
    """Hosts to send between."""

    def __init__(self, scenario):
        self.engine = simgrid.Engine(["simgrid_run", "--log=root.thres:error", *settings(scenario)])
        self.zone = None
        self.joined = {}  # links -> sender and receiver
        if "platform" in scenario:
            self.engine.load_platform(scenario["platform"])
            self.home = self.engine.all_hosts[0]
        else:
            self.zone = simgrid.NetZone.create_full_zone("all")
            self.home = self.host("home")
            self.links = {name: self.link(name, rate) for name, rate in scenario["links"].items()}

    def host(self, name):
        return self.zone.create_host(name, 1e9).seal()

    def link(self, name, rate):
        return self.zone.create_link(name, rate).set_latency(0).seal()

    def join(self, names):
        """Sender and receiver with these links between them, one way."""
        if names not in self.joined:
            number = len(self.joined)
            pair = self.host(f"sender {number}"), self.host(f"receiver {number}")
            route = [simgrid.LinkInRoute(self.links[name]) for name in names]
            self.zone.add_route(pair[0].netpoint, pair[1].netpoint, None, None, route, False)
            self.joined[names] = pair
        return self.joined[names]

    def pairs(self, stream):
        """Sender and receiver of each flow of a stream."""
        if "hosts" in stream:
            return [tuple(simgrid.Host.by_name(name) for name in stream["hosts"])] * stream["count"]
        if stream.get("cap") is None:
            return [self.join(tuple(stream["links"]))] * stream["count"]
        pairs = []
        for _ in range(stream["count"]):  # a cap is a link of the flow's own
            own = f"cap {len(self.links)}"
            self.links[own] = self.link(own, stream["cap"])
            pairs.append(self.join((own, *stream["links"])))
        return pairs


class Job:
    """A list of phases; an actor goes through it."""

    def __init__(self, machine, job):
        self.home, self.start, self.stop, self.phases = machine.home, job["start"], job.get("kill"), job["phases"]
        self.ends, self.left = [None] * len(self.phases), [0.0] * len(self.phases)
        self.flows = [
            [(pair, stream["bytes"]) for stream in phase.get("streams", ()) for pair in machine.pairs(stream)]
            for phase in self.phases
        ]
        self.blocking, self.moving, self.killed = 0, [], False

    def run(self):
        simgrid.this_actor.sleep_until(self.start)
        if self.stop is not None:
            simgrid.Actor.create("kill", self.home, self.kill)
        for i, phase in enumerate(self.phases):
            if phase.get("beside"):
                simgrid.Actor.create("beside", self.home, self.wait, i, self.send(i))
                continue
            self.blocking, self.moving = i, self.send(i)
            simgrid.this_actor.sleep_for(phase.get("seconds", 0.0))
            if "task" in phase:
                exchange(**phase["task"])
            self.wait(i, self.moving)
            if self.killed:
                return
        self.stop = None

    def send(self, i):
        """Begin all that a phase sends."""
        flows = [simgrid.Comm.sendto_init(*pair).set_payload_size(size) for pair, size in self.flows[i]]
        return [flow.start() for flow in flows]

    def wait(self, i, flows):
        """Wait for the end of all that a phase sends."""
        try:
            simgrid.Comm.wait_all(flows)
        except (simgrid.CancelException, simgrid.NetworkFailureException):
            return
        if self.ends[i] is None:
            self.ends[i] = simgrid.Engine.clock

    def kill(self):
        """Break off the phase that the next one waits for."""
        simgrid.this_actor.sleep_until(self.stop)
        if self.stop is None:
            return
        self.killed, self.ends[self.blocking] = True, simgrid.Engine.clock
        going = [flow for flow in self.moving if not flow.test()]
        self.left[self.blocking] = sum(flow.remaining for flow in going)
        for flow in going:
            flow.cancel()


def exchange(hosts, flop, bytes):
    """Every host computes and sends to every other."""
    amounts = [bytes * (a != b) for a in hosts for b in hosts]
    simgrid.this_actor.parallel_execute([simgrid.Host.by_name(name) for name in hosts], [flop] * len(hosts), amounts)


def settings(scenario):
    """As options of a command line."""
    return [f"--cfg={name}:{value}" for name, value in (CONFIG | scenario.get("config", {})).items()]


def main():
    """Standard input to standard output."""
    scenario = json.load(sys.stdin)
    machine = Machine(scenario)
    jobs = [Job(machine, job) for job in scenario.get("jobs", ())]
    if machine.zone:
        machine.zone.seal()
    hosts = {name: simgrid.Host.by_name(name) for name in scenario.get("routes", ())}
    routes = [[a, b, [link.name for link in hosts[a].route_to(hosts[b])[0]]] for a in hosts for b in hosts if a != b]
    for job in jobs:
        simgrid.Actor.create("job", machine.home, job.run)
    machine.engine.run()
    json.dump({"ends": [job.ends for job in jobs], "left": [job.left for job in jobs], "routes": routes}, sys.stdout)


main()
