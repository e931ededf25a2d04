"""A small project of ElastiSim's: every type of job, and tasks that compute, communicate and move data."""

import json

_MODEL = {
    "on_init": {"tasks": [{"type": "pfs_read", "name": "read", "bytes": "size", "pattern": "root_only"}]},
    "on_reconfiguration": {
        "tasks": [{"type": "cpu", "name": "scatter", "bytes": "size", "communication_pattern": "scatter"}]
    },
    "phases": [
        {
            "iterations": "iterations",
            "evolving_request": "phase_iteration % 2 == 0 ? num_nodes - 1 : num_nodes + 1",
            "tasks": [
                {
                    "type": "cpu",
                    "name": "compute",
                    "flops": "flops/num_nodes^alpha",
                    "computation_pattern": "uniform",
                    "bytes": "size",
                    "communication_pattern": "all_to_all",
                    "coupled": True,
                },
                {"type": "pfs_write", "name": "write", "bytes": "size", "pattern": "all_ranks"},
            ],
        }
    ],
}
_ARGUMENTS = {"iterations": 2, "flops": 2e11, "size": 1e9, "alpha": 0.5}
_JOBS = [
    {"type": "rigid", "submit_time": 0, "num_nodes": 3, "application_model": "model.json", "arguments": _ARGUMENTS},
    *(
        {
            "type": kind,
            "submit_time": 2,
            "walltime": 60,
            "num_nodes_min": 1,
            "num_nodes_max": 4,
            "application_model": "model.json",
            "arguments": _ARGUMENTS,
        }
        for kind in ("moldable", "malleable", "evolving", "adaptive")
    ),
]
_CONFIGURATION = {
    "jobs_file": "jobs.json",
    "platform_file": "platform.xml",
    "zmq_url": "ipc:///tmp/elastisim.ipc",
    "schedule_on_job_submit": True,
    "schedule_on_job_finalize": True,
    "schedule_on_scheduling_point": True,
    "scheduling_interval": 0,
    "sensing": True,
    "sensing_interval": 1,
    "pfs_read_links": ["PFS_read"],
    "pfs_write_links": ["PFS_write"],
    "job_statistics": "../elsewhere/job_statistics.csv",
    "node_utilization": "data/node_utilization.csv",
}
_PLATFORM = b"""<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
 <zone id="World" routing="Full">
  <zone id="Batch_zone" routing="Full">
   <host id="Batch" speed="0Gf"><prop id="batch_system" value="true"/></host>
  </zone>
  <cluster id="C" prefix="n_" radical="0-5" suffix="" speed="100Gf" bw="100Gbps" lat="50us">
   <prop id="node_local_bb" value="false"/>
   <prop id="pfs_targets" value="PFS"/>
  </cluster>
  <zone id="PFS_zone" routing="Full">
   <host id="PFS" speed="0Gf"><prop id="pfs_host" value="true"/></host>
  </zone>
  <link id="PFS_read" bandwidth="80GBps" latency="500us"/>
  <link id="PFS_write" bandwidth="50GBps" latency="500us"/>
  <zoneRoute src="PFS_zone" dst="C" gw_src="PFS" gw_dst="n_C_router" symmetrical="NO">
   <link_ctn id="PFS_read"/>
  </zoneRoute>
  <zoneRoute src="C" dst="PFS_zone" gw_src="n_C_router" gw_dst="PFS" symmetrical="NO">
   <link_ctn id="PFS_write"/>
  </zoneRoute>
 </zone>
</platform>
"""

PROJECT = {
    "configuration.json": json.dumps(_CONFIGURATION, indent=1).encode(),
    "jobs.json": json.dumps({"jobs": _JOBS}, indent=1).encode(),
    "model.json": json.dumps(_MODEL, indent=1).encode(),
    "platform.xml": _PLATFORM,
}
