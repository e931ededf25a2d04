"""Names that Slurm has for what can be set: in lower case, since case does not count, to how the manual spells them.

Any other name in a file is a slip, or newer than this. What is set under most of them (daemons, logs, ports) means
nothing to a schedule.
"""

import difflib
from collections.abc import Mapping

from forebay.slurm.sources.record import Kind


def _spelled(names: str) -> dict[str, str]:
    return {name.lower(): name for name in names.split()}


SETTINGS = _spelled(
    """
    AccountingStorageBackupHost AccountingStorageEnforce AccountingStorageExternalHost AccountingStorageHost
    AccountingStorageLoc AccountingStorageParameters AccountingStoragePass AccountingStoragePort AccountingStorageTRES
    AccountingStorageType AccountingStorageUser AccountingStoreFlags AccountingStoreJobComment AcctGatherEnergyType
    AcctGatherFilesystemType AcctGatherInfinibandType AcctGatherInterconnectType AcctGatherNodeFreq
    AcctGatherProfileType AllowSpecResourcesUsage AuthAltParameters AuthAltTypes AuthInfo AuthType BackupAddr
    BackupController BatchStartTimeout BcastExclude BcastParameters BurstBufferParameters BurstBufferType CacheGroups
    CertgenParameters CertgenType CertmgrParameters CertmgrType CgroupPlugin CheckpointType CliFilterPlugins
    ClusterName CommunicationParameters CompleteWait ControlAddr ControlMachine CoreSpecPlugin CpuFreqDef
    CpuFreqGovernors CredType CryptoType DataParserParameters DebugFlags DefCPUPerGPU DefMemPerCPU DefMemPerGPU
    DefMemPerNode DependencyParameters DisableRootJobs EioTimeout EnforcePartLimits Epilog EpilogMsgTime
    EpilogSlurmctld EpilogSlurmctldTimeout EpilogTimeout ExtSensorsFreq ExtSensorsType FairShareDampeningFactor
    FastSchedule FederationParameters FirstJobId GetEnvTimeout GpuFreqDef GresTypes GroupUpdateForce GroupUpdateTime
    HashPlugin HealthCheckInterval HealthCheckNodeState HealthCheckProgram HttpParserType InactiveLimit
    InteractiveStepOptions JobAcctGatherFrequency JobAcctGatherParams JobAcctGatherType JobCheckpointDir JobCompHost
    JobCompLoc JobCompParams JobCompPass JobCompPort JobCompType JobCompUser JobContainerType JobCredentialPrivateKey
    JobCredentialPublicCertificate JobFileAppend JobRequeue JobSubmitPlugins KeepAliveTime KillOnBadExit KillWait
    LaunchParameters LaunchType Licenses LogTimeFormat MailDomain MailProg MaxArraySize MaxBatchRequeue MaxDBDMsgs
    MaxJobCount MaxJobId MaxMemPerCPU MaxMemPerNode MaxNodeCount MaxStepCount MaxTasksPerNode MCSParameters MCSPlugin
    MessageTimeout MetricsType MinJobAge MpiDefault MpiParams NamespaceType NodeFeaturesPlugins OverTimeLimit
    PluginDir PlugStackConfig PowerParameters PowerPlugin PreemptExemptTime PreemptMode PreemptParameters PreemptType
    PrEpParameters PrEpPlugins PriorityCalcPeriod PriorityDecayHalfLife PriorityFavorSmall PriorityFlags
    PriorityMaxAge PriorityParameters PrioritySiteFactorParameters PrioritySiteFactorPlugin PriorityType
    PriorityUsageResetPeriod PriorityWeightAge PriorityWeightAssoc PriorityWeightFairshare PriorityWeightJobSize
    PriorityWeightPartition PriorityWeightQOS PriorityWeightTRES PrivateData ProctrackType Prolog PrologEpilogTimeout
    PrologFlags PrologSlurmctld PrologSlurmctldTimeout PrologTimeout PropagatePrioProcess PropagateResourceLimits
    PropagateResourceLimitsExcept RebootProgram ReconfigFlags RequeueExit RequeueExitHold ResumeFailProgram
    ResumeProgram ResumeRate ResumeSpecified ResumeTimeout ResvEpilog ResvOverRun ResvProlog ReturnToService
    RoutePlugin SallocDefaultCommand SbcastParameters SchedulerAuth SchedulerParameters SchedulerPort
    SchedulerRootFilter SchedulerTimeSlice SchedulerType ScronParameters SelectType SelectTypeParameters SlurmctldAddr
    SlurmctldDebug SlurmctldHost SlurmctldLogFile SlurmctldParameters SlurmctldPidFile SlurmctldPlugstack
    SlurmctldPort SlurmctldPrimaryOffProg SlurmctldPrimaryOnProg SlurmctldSyslogDebug SlurmctldTimeout SlurmdDebug
    SlurmdLogFile SlurmdParameters SlurmdPidFile SlurmdPort SlurmdSpoolDir SlurmdSyslogDebug SlurmdTimeout SlurmdUser
    SlurmSchedLogFile SlurmSchedLogLevel SlurmUser SrunEpilog SrunPortRange SrunProlog StateSaveLocation
    SuspendExcNodes SuspendExcParts SuspendExcStates SuspendProgram SuspendRate SuspendTime SuspendTimeout
    SwitchParameters SwitchType TaskEpilog TaskPlugin TaskPluginParam TaskProlog TCPTimeout TLSParameters TLSType
    TmpFS TopologyParam TopologyPlugin TrackWCKey TreeWidth UnkillableStepProgram UnkillableStepTimeout UrlParserType
    UsePAM UseSpecResources VSizeFactor WaitTime X11Parameters
    """
)

NODE = _spelled(
    """
    NodeName NodeHostname NodeAddr BcastAddr Boards CoreSpecCount CoresPerSocket CpuBind CPUs CpuSpecList Feature
    Features Gres GresConf MemSpecLimit Parameters Port Procs RealMemory Reason RestrictedCoresPerGPU Sockets
    SocketsPerBoard State ThreadsPerCore TmpDisk Topology TRESWeights Weight
    """
)

PARTITION = _spelled(
    """
    AllocNodes AllowAccounts AllowGroups AllowQos Alternate CpuBind Default DefaultTime DefCpuPerGPU DefMemPerCPU
    DefMemPerGPU DefMemPerNode DenyAccounts DenyQos DisableRootJobs ExclusiveTopo ExclusiveUser GraceTime Hidden
    JobDefaults LLN MaxCPUsPerNode MaxCPUsPerSocket MaxMemPerCPU MaxMemPerNode MaxNodes MaxTime MinNodes Nodes
    OverSubscribe OverTimeLimit PowerDownOnIdle PreemptMode Priority PriorityJobFactor PriorityTier QOS ReqResv
    ResumeTimeout RootOnly SelectTypeParameters Shared State SuspendTime SuspendTimeout Topology TRESBillingWeights
    """
)

NODESET = _spelled("Feature Nodes")

DOWN = _spelled("Reason State")

OF = {Kind.NODE: NODE, Kind.PARTITION: PARTITION, Kind.NODESET: NODESET, Kind.DOWN: DOWN}

ALL = SETTINGS | NODE | PARTITION | _spelled("NodeName PartitionName NodeSet DownNodes Include")

SCHEDULER = _spelled(
    """
    allow_zero_lic assoc_limit_stop batch_sched_delay bb_array_stage_cnt bf_allow_magnetic_slot bf_busy_nodes
    bf_continue bf_hetjob_immediate bf_hetjob_prio bf_interval bf_job_part_count_reserve bf_licenses
    bf_max_job_array_resv bf_max_job_assoc bf_max_job_part bf_max_job_start bf_max_job_test bf_max_job_user
    bf_max_job_user_part bf_max_time bf_min_age_reserve bf_min_prio_reserve bf_node_space_size bf_one_resv_per_job
    bf_resolution bf_running_job_reserve bf_topopt_enable bf_topopt_iterations bf_window bf_window_linear
    bf_yield_interval bf_yield_rpc_cnt bf_yield_sleep build_queue_timeout correspond_after_task_cnt default_gbytes
    default_queue_depth defer defer_batch delay_boot disable_job_shrink disable_hetjob_steps enable_hetjob_steps
    enable_job_state_cache enable_user_top extra_constraints ignore_constraint_validation ignore_numa
    ignore_prefer_validation max_array_tasks max_rpc_cnt max_sched_time max_script_size max_submit_line_size
    max_switch_wait no_backup_scheduling no_env_cache nohold_on_prolog_fail pack_serial_at_end partition_job_depth
    permit_job_expansion preempt_reorder_count preempt_send_user_signal preempt_strict_order preempt_youngest_first
    reduce_completing_frag requeue_delay requeue_on_resume_failure requeue_setup_env_fail salloc_wait_nodes
    sbatch_wait_nodes sched_interval sched_max_job_start sched_min_interval spec_cores_first step_retry_count
    step_retry_time time_min_as_soft_limit whole_hetjob
    """
)
"""Of SchedulerParameters."""

RENAMED = {
    "max_job_bf": "bf_max_job_test",
    "interval": "bf_interval",
    "max_rpc_count": "max_rpc_cnt",
    "whole_pack": "whole_hetjob",
    "enable_hetero_steps": "enable_hetjob_steps",
    "disable_hetero_steps": "disable_hetjob_steps",
}
"""Of SchedulerParameters: names of earlier versions, to those of today."""


def meant(word: str, known: Mapping[str, str]) -> str:
    """What to say of a name that is none: the one that is nearest to it, if any is near."""
    close = difflib.get_close_matches(word.lower(), known, n=1, cutoff=0.75)
    return f"did you mean {known[close[0]]}?" if close else "passed over"
