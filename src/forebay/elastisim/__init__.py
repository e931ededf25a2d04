"""ElastiSim's projects: jobs, applications, machines and algorithms, read and run."""
