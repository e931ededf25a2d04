"""A site's own description: slurm.conf, and what scontrol, sinfo and sacctmgr print, as a machine, a policy and limits.

Every source becomes `Record`s in the words of slurm.conf; `site.assemble` makes one description of them; `machine`,
`scheduler` and `limits` say it in forebay's words. Nothing here simulates: a platform file, a policy's spec and notes
come out.
"""
