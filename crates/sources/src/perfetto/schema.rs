//! The messages of Perfetto's trace format that a boot is read from.
//!
//! Names, numbers and types are those of the published schema (`protos/perfetto/trace/`,
//! as version 59.1 has it); the fixtures are written by Perfetto itself and with its own
//! messages. Fields that nothing here reads are left out; what repeats most (packets,
//! events, names of tasks) stays in the bytes of the file.

use prost::Message;
use prost::bytes::Bytes;

#[derive(Clone, PartialEq, Message)]
pub(super) struct TracePacket {
    #[prost(message, optional, tag = "1")]
    pub(super) ftrace_events: Option<FtraceEventBundle>,
    #[prost(message, optional, tag = "2")]
    pub(super) process_tree: Option<ProcessTree>,
    #[prost(message, optional, tag = "6")]
    pub(super) clock_snapshot: Option<ClockSnapshot>,
    #[prost(message, optional, tag = "7")]
    pub(super) sys_stats: Option<SysStats>,
    #[prost(uint64, optional, tag = "8")]
    pub(super) timestamp: Option<u64>,
    #[prost(uint32, optional, tag = "10")]
    pub(super) trusted_packet_sequence_id: Option<u32>,
    #[prost(message, optional, tag = "11")]
    pub(super) track_event: Option<TrackEvent>,
    #[prost(message, optional, tag = "12")]
    pub(super) interned_data: Option<InternedData>,
    #[prost(uint32, optional, tag = "13")]
    pub(super) sequence_flags: Option<u32>,
    #[prost(message, optional, tag = "39")]
    pub(super) android_log: Option<AndroidLogPacket>,
    #[prost(bytes = "bytes", optional, tag = "50")]
    pub(super) compressed_packets: Option<Bytes>,
    #[prost(uint32, optional, tag = "58")]
    pub(super) timestamp_clock_id: Option<u32>,
    #[prost(message, optional, tag = "59")]
    pub(super) trace_packet_defaults: Option<TracePacketDefaults>,
    #[prost(message, optional, tag = "60")]
    pub(super) track_descriptor: Option<TrackDescriptor>,
    #[prost(uint32, optional, tag = "98")]
    pub(super) machine_id: Option<u32>,
}

/// `TracePacket.sequence_flags`: what was interned before counts no more.
pub(super) const SEQ_INCREMENTAL_STATE_CLEARED: u32 = 1;

/// What `/proc` said at one moment.
#[derive(Clone, PartialEq, Message)]
pub(super) struct SysStats {
    #[prost(message, repeated, tag = "1")]
    pub(super) meminfo: Vec<MeminfoValue>,
    #[prost(message, repeated, tag = "3")]
    pub(super) cpu_stat: Vec<CpuTimes>,
}

/// `SysStats.MeminfoValue`: one of `MeminfoCounters`, in kB.
#[derive(Clone, PartialEq, Message)]
pub(super) struct MeminfoValue {
    #[prost(int32, optional, tag = "1")]
    pub(super) key: Option<i32>,
    #[prost(uint64, optional, tag = "2")]
    pub(super) value: Option<u64>,
}

/// `SysStats.CpuTimes`: of one CPU, since the start.
#[derive(Clone, PartialEq, Message)]
pub(super) struct CpuTimes {
    #[prost(uint64, optional, tag = "2")]
    pub(super) user_ns: Option<u64>,
    #[prost(uint64, optional, tag = "3")]
    pub(super) user_nice_ns: Option<u64>,
    #[prost(uint64, optional, tag = "4")]
    pub(super) system_mode_ns: Option<u64>,
    #[prost(uint64, optional, tag = "5")]
    pub(super) idle_ns: Option<u64>,
    #[prost(uint64, optional, tag = "6")]
    pub(super) io_wait_ns: Option<u64>,
    #[prost(uint64, optional, tag = "7")]
    pub(super) irq_ns: Option<u64>,
    #[prost(uint64, optional, tag = "8")]
    pub(super) softirq_ns: Option<u64>,
    #[prost(uint64, optional, tag = "9")]
    pub(super) steal_ns: Option<u64>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct TracePacketDefaults {
    #[prost(message, optional, tag = "11")]
    pub(super) track_event_defaults: Option<TrackEventDefaults>,
    #[prost(uint32, optional, tag = "58")]
    pub(super) timestamp_clock_id: Option<u32>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct TrackEventDefaults {
    #[prost(uint64, optional, tag = "11")]
    pub(super) track_uuid: Option<u64>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct ClockSnapshot {
    #[prost(message, repeated, tag = "1")]
    pub(super) clocks: Vec<SnapshotClock>,
}

/// `ClockSnapshot.Clock`.
#[derive(Clone, PartialEq, Message)]
pub(super) struct SnapshotClock {
    #[prost(uint32, optional, tag = "1")]
    pub(super) clock_id: Option<u32>,
    #[prost(uint64, optional, tag = "2")]
    pub(super) timestamp: Option<u64>,
    #[prost(bool, optional, tag = "3")]
    pub(super) is_incremental: Option<bool>,
    #[prost(uint64, optional, tag = "4")]
    pub(super) unit_multiplier_ns: Option<u64>,
}

/// What one CPU wrote since it was last read.
#[derive(Clone, PartialEq, Message)]
pub(super) struct FtraceEventBundle {
    #[prost(uint32, optional, tag = "1")]
    pub(super) cpu: Option<u32>,
    #[prost(bytes = "bytes", repeated, tag = "2")]
    pub(super) event: Vec<Bytes>,
    #[prost(bool, optional, tag = "3")]
    pub(super) lost_events: Option<bool>,
    #[prost(message, optional, tag = "4")]
    pub(super) compact_sched: Option<CompactSched>,
    /// Not set where it is `CLOCK_BOOTTIME`.
    #[prost(int32, optional, tag = "5")]
    pub(super) ftrace_clock: Option<i32>,
    /// The same moment on both clocks, where the other is not `CLOCK_BOOTTIME`.
    #[prost(int64, optional, tag = "6")]
    pub(super) ftrace_timestamp: Option<i64>,
    #[prost(int64, optional, tag = "7")]
    pub(super) boot_timestamp: Option<i64>,
}

/// `sched_switch` and `sched_waking` by columns. Of times the first counts from the clock's
/// zero, each other one from the one before.
#[derive(Clone, PartialEq, Message)]
pub(super) struct CompactSched {
    #[prost(uint64, repeated, tag = "1")]
    pub(super) switch_timestamp: Vec<u64>,
    #[prost(int64, repeated, tag = "2")]
    pub(super) switch_prev_state: Vec<i64>,
    #[prost(int32, repeated, tag = "3")]
    pub(super) switch_next_pid: Vec<i32>,
    #[prost(bytes = "bytes", repeated, tag = "5")]
    pub(super) intern_table: Vec<Bytes>,
    #[prost(uint32, repeated, tag = "6")]
    pub(super) switch_next_comm_index: Vec<u32>,
}

/// When an event was, without what: most are put in order first.
#[derive(Clone, PartialEq, Message)]
pub(super) struct FtraceTime {
    #[prost(uint64, optional, tag = "1")]
    pub(super) timestamp: Option<u64>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct FtraceEvent {
    #[prost(uint32, optional, tag = "2")]
    pub(super) pid: Option<u32>,
    #[prost(message, optional, tag = "3")]
    pub(super) print: Option<PrintFtraceEvent>,
    #[prost(message, optional, tag = "4")]
    pub(super) sched_switch: Option<SchedSwitchFtraceEvent>,
    #[prost(message, optional, tag = "11")]
    pub(super) cpu_frequency: Option<CpuFrequencyFtraceEvent>,
    #[prost(message, optional, tag = "235")]
    pub(super) task_newtask: Option<TaskNewtaskFtraceEvent>,
    #[prost(message, optional, tag = "236")]
    pub(super) task_rename: Option<TaskRenameFtraceEvent>,
    #[prost(message, optional, tag = "237")]
    pub(super) sched_process_exec: Option<SchedProcessExecFtraceEvent>,
    #[prost(message, optional, tag = "238")]
    pub(super) sched_process_exit: Option<SchedProcessExitFtraceEvent>,
    #[prost(message, optional, tag = "239")]
    pub(super) sched_process_fork: Option<SchedProcessForkFtraceEvent>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct PrintFtraceEvent {
    #[prost(string, optional, tag = "2")]
    pub(super) buf: Option<String>,
}

/// kHz.
#[derive(Clone, PartialEq, Message)]
pub(super) struct CpuFrequencyFtraceEvent {
    #[prost(uint32, optional, tag = "1")]
    pub(super) state: Option<u32>,
    #[prost(uint32, optional, tag = "2")]
    pub(super) cpu_id: Option<u32>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct SchedSwitchFtraceEvent {
    #[prost(string, optional, tag = "1")]
    pub(super) prev_comm: Option<String>,
    #[prost(int32, optional, tag = "2")]
    pub(super) prev_pid: Option<i32>,
    #[prost(int64, optional, tag = "4")]
    pub(super) prev_state: Option<i64>,
    #[prost(string, optional, tag = "5")]
    pub(super) next_comm: Option<String>,
    #[prost(int32, optional, tag = "6")]
    pub(super) next_pid: Option<i32>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct SchedProcessExecFtraceEvent {
    #[prost(string, optional, tag = "1")]
    pub(super) filename: Option<String>,
    #[prost(int32, optional, tag = "2")]
    pub(super) pid: Option<i32>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct SchedProcessExitFtraceEvent {
    #[prost(string, optional, tag = "1")]
    pub(super) comm: Option<String>,
    #[prost(int32, optional, tag = "2")]
    pub(super) pid: Option<i32>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct SchedProcessForkFtraceEvent {
    #[prost(string, optional, tag = "1")]
    pub(super) parent_comm: Option<String>,
    #[prost(int32, optional, tag = "2")]
    pub(super) parent_pid: Option<i32>,
    #[prost(string, optional, tag = "3")]
    pub(super) child_comm: Option<String>,
    #[prost(int32, optional, tag = "4")]
    pub(super) child_pid: Option<i32>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct TaskNewtaskFtraceEvent {
    #[prost(int32, optional, tag = "1")]
    pub(super) pid: Option<i32>,
    #[prost(string, optional, tag = "2")]
    pub(super) comm: Option<String>,
    #[prost(uint64, optional, tag = "3")]
    pub(super) clone_flags: Option<u64>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct TaskRenameFtraceEvent {
    #[prost(int32, optional, tag = "1")]
    pub(super) pid: Option<i32>,
    #[prost(string, optional, tag = "3")]
    pub(super) newcomm: Option<String>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct ProcessTree {
    #[prost(message, repeated, tag = "1")]
    pub(super) processes: Vec<ProcessTreeProcess>,
    #[prost(message, repeated, tag = "2")]
    pub(super) threads: Vec<ProcessTreeThread>,
}

/// `ProcessTree.Process`.
#[derive(Clone, PartialEq, Message)]
pub(super) struct ProcessTreeProcess {
    #[prost(int32, optional, tag = "1")]
    pub(super) pid: Option<i32>,
    #[prost(string, repeated, tag = "3")]
    pub(super) cmdline: Vec<String>,
}

/// `ProcessTree.Thread`.
#[derive(Clone, PartialEq, Message)]
pub(super) struct ProcessTreeThread {
    #[prost(int32, optional, tag = "1")]
    pub(super) tid: Option<i32>,
    #[prost(string, optional, tag = "2")]
    pub(super) name: Option<String>,
    #[prost(int32, optional, tag = "3")]
    pub(super) tgid: Option<i32>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct AndroidLogPacket {
    #[prost(message, repeated, tag = "1")]
    pub(super) events: Vec<LogEvent>,
}

/// `AndroidLogPacket.LogEvent`.
#[derive(Clone, PartialEq, Message)]
pub(super) struct LogEvent {
    #[prost(int32, optional, tag = "2")]
    pub(super) pid: Option<i32>,
    #[prost(int32, optional, tag = "3")]
    pub(super) tid: Option<i32>,
    /// Nanoseconds of the wall clock.
    #[prost(uint64, optional, tag = "5")]
    pub(super) timestamp: Option<u64>,
    #[prost(string, optional, tag = "6")]
    pub(super) tag: Option<String>,
    #[prost(string, optional, tag = "8")]
    pub(super) message: Option<String>,
    /// Of the binary log, instead of a message.
    #[prost(message, repeated, tag = "9")]
    pub(super) args: Vec<LogArg>,
}

/// `AndroidLogPacket.LogEvent.Arg`.
#[derive(Clone, PartialEq, Message)]
pub(super) struct LogArg {
    #[prost(int64, optional, tag = "2")]
    pub(super) int_value: Option<i64>,
    #[prost(float, optional, tag = "3")]
    pub(super) float_value: Option<f32>,
    #[prost(string, optional, tag = "4")]
    pub(super) string_value: Option<String>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct TrackDescriptor {
    #[prost(uint64, optional, tag = "1")]
    pub(super) uuid: Option<u64>,
    #[prost(string, optional, tag = "2")]
    pub(super) name: Option<String>,
    #[prost(message, optional, tag = "3")]
    pub(super) process: Option<ProcessDescriptor>,
    #[prost(message, optional, tag = "4")]
    pub(super) thread: Option<ThreadDescriptor>,
    #[prost(uint64, optional, tag = "5")]
    pub(super) parent_uuid: Option<u64>,
    #[prost(string, optional, tag = "10")]
    pub(super) static_name: Option<String>,
    #[prost(string, optional, tag = "13")]
    pub(super) atrace_name: Option<String>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct ProcessDescriptor {
    #[prost(int32, optional, tag = "1")]
    pub(super) pid: Option<i32>,
    #[prost(string, optional, tag = "6")]
    pub(super) process_name: Option<String>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct ThreadDescriptor {
    #[prost(int64, optional, tag = "2")]
    pub(super) tid: Option<i64>,
    #[prost(string, optional, tag = "5")]
    pub(super) thread_name: Option<String>,
}

/// `TrackEvent.type`.
pub(super) const TYPE_SLICE_BEGIN: i32 = 1;
pub(super) const TYPE_SLICE_END: i32 = 2;
pub(super) const TYPE_INSTANT: i32 = 3;
pub(super) const TYPE_COUNTER: i32 = 4;

#[derive(Clone, PartialEq, Message)]
pub(super) struct TrackEvent {
    #[prost(int32, optional, tag = "9")]
    pub(super) r#type: Option<i32>,
    #[prost(uint64, optional, tag = "10")]
    pub(super) name_iid: Option<u64>,
    #[prost(uint64, optional, tag = "11")]
    pub(super) track_uuid: Option<u64>,
    #[prost(string, optional, tag = "23")]
    pub(super) name: Option<String>,
    #[prost(int64, optional, tag = "30")]
    pub(super) counter_value: Option<i64>,
    #[prost(double, optional, tag = "44")]
    pub(super) double_counter_value: Option<f64>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct InternedData {
    #[prost(message, repeated, tag = "2")]
    pub(super) event_names: Vec<EventName>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct EventName {
    #[prost(uint64, optional, tag = "1")]
    pub(super) iid: Option<u64>,
    #[prost(string, optional, tag = "2")]
    pub(super) name: Option<String>,
}
