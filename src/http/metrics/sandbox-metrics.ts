import type { Installation } from './installation.ts'
import { type Metric, gauge, lasting, tallied, talliedTwice } from './metric.ts'

/** The processes that run site code, and what waits for them. */
export const SANDBOX_METRICS: readonly Metric<Installation>[] = [
  {
    name: 'croft_sandbox_calls_total',
    type: 'counter',
    help: 'Calls that were inside a sandbox host, by the class of their site: its calls are short (ordinary), longer (apart), long, or brought a host down (quarantine).',
    labels: ['site_class', 'outcome'],
    read: ({ sandbox }) =>
      talliedTwice(['site_class', 'outcome'], sandbox.activity.calls.entries()),
  },
  {
    name: 'croft_sandbox_running_calls',
    type: 'gauge',
    help: 'Calls inside sandbox hosts that hold a place: what waits has given it back.',
    labels: [],
    read: ({ sandbox }) => [gauge(sandbox.running)],
  },
  {
    name: 'croft_sandbox_suspended_calls',
    type: 'gauge',
    help: 'Calls inside sandbox hosts that wait: for a timer, for the service, or for their clients.',
    labels: [],
    read: ({ sandbox }) => [gauge(sandbox.suspended)],
  },
  {
    name: 'croft_open_streams',
    type: 'gauge',
    help: 'Calls that send to their clients or receive from them as a stream.',
    labels: [],
    read: ({ context }) => [gauge(context.openStreams.size)],
  },
  {
    name: 'croft_refused_streams_total',
    type: 'counter',
    help: 'Streams that were refused because too many were open, by what had too many: the address of the client, the site, or this replica.',
    labels: ['limit'],
    read: ({ context }) => tallied('limit', context.openStreams.refused),
  },
  {
    name: 'croft_sandbox_queued_calls',
    type: 'gauge',
    help: 'Calls that wait for a sandbox host.',
    labels: [],
    read: ({ sandbox }) => [gauge(sandbox.queued)],
  },
  {
    name: 'croft_sandbox_queue_wait_seconds',
    type: 'histogram',
    help: 'Time that calls waited until they were handed to a sandbox host.',
    labels: [],
    read: ({ sandbox }) => [lasting(sandbox.activity.queueWait)],
  },
  {
    name: 'croft_sandbox_hosts',
    type: 'gauge',
    help: 'Sandbox hosts that take calls, by the class of sites that they are for.',
    labels: ['role'],
    read: ({ sandbox }) => perRole(sandbox, ({ ready }) => (ready ? 1 : 0)),
  },
  {
    name: 'croft_sandbox_host_resident_bytes',
    type: 'gauge',
    help: 'Memory of sandbox hosts, together for each class of sites.',
    labels: ['role'],
    read: ({ sandbox }) => perRole(sandbox, ({ rssBytes }) => rssBytes),
  },
  {
    name: 'croft_sandbox_host_largest_resident_bytes',
    type: 'gauge',
    help: 'Memory of the sandbox host that has most.',
    labels: [],
    read: ({ sandbox }) => [gauge(Math.max(0, ...sandbox.hosts.map(({ rssBytes }) => rssBytes)))],
  },
  {
    name: 'croft_sandbox_host_memory_limit_bytes',
    type: 'gauge',
    help: 'Memory at which a sandbox host is replaced (CROFT_SANDBOX_HOST_MEMORY_MB).',
    labels: [],
    read: ({ context }) => [gauge(context.config.sandbox.hostMemoryMb * 1024 * 1024)],
  },
  {
    name: 'croft_sandbox_memory_limit_bytes',
    type: 'gauge',
    help: 'Memory of all sandbox hosts together at which one is replaced when its calls have ended (CROFT_SANDBOX_MEMORY_MB).',
    labels: [],
    read: ({ context }) => [gauge(context.config.sandbox.memoryMb * 1024 * 1024)],
  },
  {
    name: 'croft_sandbox_memory_replacements_total',
    type: 'counter',
    help: 'Sandbox hosts that gave their place to another because all together had reached their memory, by the class of sites that they were for.',
    labels: ['role'],
    read: ({ sandbox }) => tallied('role', sandbox.activity.replacements.entries()),
  },
  {
    name: 'croft_sandbox_host_restarts_total',
    type: 'counter',
    help: 'Sandbox hosts that were lost and replaced, by the class of sites that they were for.',
    labels: ['role'],
    read: ({ sandbox }) => perRole(sandbox, ({ restarts }) => restarts),
  },
  {
    name: 'croft_sandbox_host_losses_total',
    type: 'counter',
    help: 'Sandbox hosts that went down while they took calls, by the cause: memoryMb and cpuMs are limits that site code met.',
    labels: ['cause'],
    read: ({ sandbox }) => tallied('cause', sandbox.activity.losses.entries()),
  },
  {
    name: 'croft_sandbox_warm_isolates',
    type: 'gauge',
    help: 'Isolates that are kept loaded.',
    labels: [],
    read: ({ sandbox }) => [gauge(sandbox.warmIsolates)],
  },
]

type Host = Installation['sandbox']['hosts'][number]

/** One sample for each role that has hosts. */
function perRole({ hosts }: Installation['sandbox'], measure: (host: Host) => number) {
  const sums = new Map<string, number>()
  for (const host of hosts) sums.set(host.role, (sums.get(host.role) ?? 0) + measure(host))
  return tallied('role', sums)
}
