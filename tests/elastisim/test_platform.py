"""Platforms of SimGrid: what they become, and what lies outside of what is read."""

import pytest

from forebay.elastisim import _units
from forebay.elastisim.platform import Gpus, read
from forebay.errors import InputError
from forebay.platforms.tiers import node_local, pfs
from forebay.platforms.topologies.flat import Topology

pytestmark = pytest.mark.small

PROPS = '<prop id="pfs_targets" value="PFS"/>'
LINKS = """<link id="PFS_read" bandwidth="80GBps" latency="500us"/>
  <link id="PFS_write" bandwidth="48GBps" latency="500us"/>"""
ROUTES = """<zoneRoute src="PFS_zone" dst="Crossbar" gw_src="PFS" gw_dst="n_r" symmetrical="NO">
  <link_ctn id="PFS_read"/></zoneRoute>
  <zoneRoute src="Crossbar" dst="PFS_zone" gw_src="n_r" gw_dst="PFS" symmetrical="NO">
  <link_ctn id="PFS_write"/></zoneRoute>"""
HOST = '<zone id="PFS_zone" routing="Full"><host id="PFS" speed="0Gf"><prop id="pfs_host" value="true"/></host></zone>'
XML = f"""<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
 <zone id="World" routing="Full">
  <zone id="Batch" routing="Full"><host id="B" speed="0Gf"><prop id="batch_system" value="true"/></host></zone>
  <cluster id="Crossbar" prefix="n_" radical="0-11" suffix="" speed="100Gf" bw="100Gbps" lat="50us">
   {PROPS}
  </cluster>
  {HOST}
  {LINKS}
  {ROUTES}
 </zone>
</platform>
"""


@pytest.fixture
def machine(tmp_path):
    def machine(text=XML, name="crossbar.xml"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return read(path)

    return machine


def test_a_crossbar_with_a_file_system(machine):
    made = machine()
    assert made.platform.name == "crossbar"
    assert (made.platform.nodes, made.platform.speed) == (12, 100e9)
    assert made.platform.topology == Topology(bandwidth=12.5e9, latency=50e-6, window=4194304)
    assert made.platform.tiers == (pfs.Tier(name="pfs", read=80e9, write=48e9, latency=500e-6),)
    assert made.names == tuple(f"n_{k}" for k in (0, 1, 10, 11, *range(2, 10)))  # as text
    assert (made.gpus, made.striped, made.flop_per_byte, made.notes) == (None, False, 0.0, ())
    assert made.pair_load == 1.0  # 4194304 B / 200 us is more than a port has
    write = made.platform.fabric().write
    assert (write.cap, write.delay) == (pytest.approx(4194304 / 0.0011), pytest.approx(0.00055))


def test_burst_buffers_striping_and_gpus(machine):
    more = "".join(
        f'<prop id="{name}" value="{value}"/>'
        for name, value in {
            **{"node_local_bb": "true", "bb_read_bw": "6GBps", "bb_write_bw": "2GBps", "wide_striping": "true"},
            **{"flops_per_byte": "3f", "num_gpus": "4", "flops_per_gpu": "20Tf", "gpu_to_gpu_bw": "50GBps"},
            "colour": "blue",
        }.items()
    )
    made = machine(XML.replace(PROPS, PROPS + more))
    assert made.platform.tiers[0] == node_local.Tier(name="burst_buffer", read=6e9, write=2e9)
    assert (made.striped, made.flop_per_byte) == (True, 3.0)
    assert made.gpus == Gpus(4, 20e12, 50e9)
    assert made.notes == ("crossbar.xml: the properties colour mean nothing here",)


def test_several_targets_stripe_every_stream(machine):
    second = HOST.replace("PFS_zone", "PFS2_zone").replace('"PFS"', '"PFS2"')
    both = XML.replace(HOST, HOST + second).replace('value="PFS"', 'value="PFS,PFS2"')
    # Behind links of their own they have twice the bandwidth, or twice that of the slower link.
    links = LINKS.replace('id="PFS_', 'id="PFS2_').replace("80GBps", "70GBps")
    routes = ROUTES.replace("PFS_", "PFS2_")
    apart = machine(both.replace(LINKS, LINKS + links).replace(ROUTES, ROUTES + routes))
    assert apart.platform.tiers == (pfs.Tier(name="pfs", read=140e9, write=96e9, latency=500e-6, targets=2),)
    shared = machine(both.replace(ROUTES, ROUTES + ROUTES.replace("PFS_zone", "PFS2_zone")))
    assert shared.platform.tiers == (pfs.Tier(name="pfs", read=80e9, write=48e9, latency=500e-6, targets=2),)
    all_hosts = machine(both.replace(PROPS, "").replace(ROUTES, ROUTES + ROUTES.replace("PFS_zone", "PFS2_zone")))
    assert all_hosts.platform.tiers == shared.platform.tiers


def test_one_link_both_ways(machine):
    route = '<zoneRoute src="PFS_zone" dst="Crossbar"><link_ctn id="PFS_read"/></zoneRoute>'
    made = machine(XML.replace(ROUTES, route))
    assert made.platform.tiers == (pfs.Tier(name="pfs", bandwidth=80e9, latency=500e-6),)


def test_without_a_file_system(machine):
    assert machine(XML.replace(HOST, "").replace(ROUTES, "").replace(PROPS, "")).platform.tiers == ()


def test_equal_clusters_are_one_machine(machine):
    cluster = XML[XML.index("<cluster") : XML.index("</cluster>") + 10]
    second = cluster.replace('"Crossbar"', '"C2"').replace('"n_"', '"m_"')
    text = XML.replace(cluster, cluster + second)
    assert machine(text.replace(ROUTES, ROUTES + ROUTES.replace("Crossbar", "C2"))).platform.nodes == 24
    with pytest.raises(InputError, match="the clusters 'Crossbar' and 'C2' differ in speed"):
        machine(XML.replace(cluster, cluster + second.replace("100Gf", "50Gf")))
    with pytest.raises(InputError, match="differ in their properties"):
        machine(XML.replace(cluster, cluster + second.replace(PROPS, "")))
    with pytest.raises(InputError, match="no <zoneRoute> from PFS_zone to C2"):
        machine(text)
    with pytest.raises(InputError, match="two nodes are called 'n_0'"):
        machine(text.replace('"m_"', '"n_"').replace(ROUTES, ROUTES + ROUTES.replace("Crossbar", "C2")))


def test_the_window_can_be_set(machine):
    config = '<config id="General"><prop id="network/TCP-gamma" value="1000000"/></config>'
    made = machine(XML.replace('<zone id="World"', config + '<zone id="World"'))
    assert made.platform.topology.window == 10**6
    assert machine(XML.replace('lat="50us"', 'lat="500us"')).pair_load == pytest.approx(12.5e9 * 0.002 / 4194304)


def test_ranges_of_nodes(machine):
    assert machine(XML.replace("0-11", "3,7-8")).names == ("n_3", "n_7", "n_8")


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("<cluster ", '<cluster topology="TORUS" ', "xml:6: topology of <cluster> is 'TORUS'; only FLAT can be read"),
        ("<cluster ", '<cluster bb_bw="1GBps" ', "'bb_bw' of <cluster> is outside what is read"),
        ("<cluster ", '<cluster core="4" ', "core of <cluster> is '4'; only 1 can be read"),
        ('routing="Full"><host id="B"', 'routing="Floyd"><host id="B"', "routing of <zone> is 'Floyd'"),
        ("<zone id=\"Batch\"", "<AS id=\"x\"/><zone id=\"Batch\"", "xml:5: <AS> in <zone> is outside what is read"),
        ('batch_system" value="true"', 'batch_system" value="no"', "outside of a <cluster>"),
        ('radical="0-11"', 'radical="11-0"', "radical is '11-0'; write ranges such as 0-15,20"),
        ('radical="0-11"', 'radical="0-999999999"', "more than the 16,000,000 nodes"),
        ('radical="0-11" ', "", "<cluster> lacks 'radical'; add it"),
        ("100Gf", "fast", "speed: 'fast' is not a speed"),
        ("100Gf", "0f", "zero speed is refused"),
        ("100Gbps", "100Gb", "bw: '100Gb' is not a bandwidth"),
        ("50us", "50 furlongs", "lat: '50 furlongs' is not a time"),
        ('value="PFS"', 'value="PFS;PFS2"', "names 'PFS;PFS2', which is no PFS host; separate them by commas"),
        ('value="PFS"', 'value="PSF"', "did you mean 'PFS'"),
        ('<link_ctn id="PFS_read"/>', '<link_ctn id="PFS_raed"/>', "'PFS_raed'; did you mean 'PFS_read'"),
        ('<link_ctn id="PFS_read"/>', "", "has 0 links; a route of one link"),
        ('id="PFS_write"', 'id="PFS_read"', "two of <link> are called 'PFS_read'"),
        ('latency="500us"/>\n  <link', 'latency="1us"/>\n  <link', "differ in latency"),
        (PROPS, PROPS + '<prop id="node_local_bb" value="true"/>', "the property 'bb_read_bw' is missing"),
        (PROPS, PROPS + '<prop id="num_gpus" value="many"/>', "num_gpus is 'many'"),
        (PROPS, PROPS + '<prop id="num_gpus" value="1"/>', "the property 'flops_per_gpu' is missing"),
        ('<zone id="World"', '<config id="x"><prop id="a/b" value="1"/></config><zone id="World"', "sets 'a/b'"),
        ("<cluster", "<!--<cluster", "not XML"),
        ("</platform>", "", "not XML"),
    ],
)  # fmt: skip
def test_what_lies_outside(machine, old, new, complaint):
    assert old in XML
    with pytest.raises(InputError, match=complaint):
        machine(XML.replace(old, new, 1))


def test_entities_are_refused_and_nothing_is_fetched(machine, tmp_path):
    secret = tmp_path / "secret.txt"
    secret.write_text("0-3")
    head = '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">'
    laughs = "<!ENTITY a '0'>" + "".join(
        f"<!ENTITY {b} '&{a};&{a};'>" for a, b in zip("abcdefgh", "bcdefghi", strict=True)
    )
    for inside, complaint in (
        (laughs, "declares the entity 'a'"),
        (f"<!ENTITY x SYSTEM 'file://{secret}'>", "declares the entity 'x'"),
        (f"<!ENTITY % x SYSTEM 'file://{secret}'> %x;", "declares the entity 'x'"),
    ):
        text = XML.replace(head, f"<!DOCTYPE platform [{inside}]>").replace("0-11", "&x;" if "x" in inside else "&i;")
        with pytest.raises(InputError, match=complaint):
            machine(text)
    with pytest.raises(InputError, match="radical is ''; write ranges"):
        machine(XML.replace("0-11", "&x;"))
    with pytest.raises(InputError, match="names the entity 'x'"):
        machine(XML.replace(PROPS, f"{PROPS}&x;"))
    assert machine(XML.replace(head, f'<!DOCTYPE platform SYSTEM "{secret}">')).platform.nodes == 12


def test_deep_and_odd_documents(machine):
    with pytest.raises(InputError, match="tags nest deeper than 50"):
        machine("<platform>" + "<zone id='z' routing='Full'>" * 100)
    with pytest.raises(InputError, match="<jobs> instead of <platform>"):
        machine("<jobs/>")
    with pytest.raises(InputError, match="not XML"):
        machine(b"")
    with pytest.raises(InputError, match="not XML"):
        machine(b"\xff\xfe\x00junk")
    with pytest.raises(InputError, match="has no <cluster>"):
        machine("<platform version='4.1'><zone id='z' routing='Full'/></platform>")


@pytest.mark.parametrize(
    ("parse", "text", "value"),
    [
        (_units.speed, "100Gf", 1e11),
        (_units.speed, "1e9", 1e9),
        (_units.speed, "2.5 Tf", 2.5e12),
        (_units.speed, "1kiloflops", 1000),
        (_units.bandwidth, "100Gbps", 12.5e9),
        (_units.bandwidth, "48GBps", 48e9),
        (_units.bandwidth, "1MiBps", 2**20),
        (_units.bandwidth, "1000", 1000),
        (_units.seconds, "50us", 50e-6),
        (_units.seconds, "0.5ms", 500e-6),
        (_units.seconds, "2", 2),
        (_units.seconds, "1m", 60),
    ],
)
def test_units(parse, text, value):
    assert parse(text) == value
