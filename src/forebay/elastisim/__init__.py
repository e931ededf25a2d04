"""ElastiSim's world: its jobs, application models, platforms and configurations, read into ours."""
