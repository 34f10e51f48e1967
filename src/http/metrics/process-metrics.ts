import { readdirSync } from 'node:fs'
import process from 'node:process'

import { runtimeName } from '#platform/runtime-name.ts'

import type { Installation } from './installation.ts'
import { type Metric, gauge, lasting } from './metric.ts'

/** The process of the service itself. */
export const PROCESS_METRICS: readonly Metric<Installation>[] = [
  {
    name: 'croft_info',
    type: 'gauge',
    help: 'Always 1; what runs is in the labels.',
    labels: ['version', 'runtime'],
    read: ({ version }) => [gauge(1, { version, runtime: runtimeName() })],
  },
  {
    name: 'croft_part_up',
    type: 'gauge',
    help: 'Whether a part is ready, as /readyz names them.',
    labels: ['part'],
    read: ({ checks }) =>
      Object.entries(checks).map(([part, check]) => gauge(check === 'ok' ? 1 : 0, { part })),
  },
  {
    name: 'croft_event_loop_lag_seconds',
    type: 'histogram',
    help: 'How much too late a timer ran that is due every 100 ms.',
    labels: [],
    read: ({ eventLoop }) => [lasting(eventLoop.lags)],
  },
  {
    name: 'process_resident_memory_bytes',
    type: 'gauge',
    help: 'Memory of the service process, without the sandbox hosts and an embedded PostgreSQL.',
    labels: [],
    read: () => [gauge(process.memoryUsage.rss())],
  },
  {
    name: 'process_cpu_seconds_total',
    type: 'counter',
    help: 'Processor time of the service process.',
    labels: [],
    read() {
      const { user, system } = process.cpuUsage()
      return [gauge((user + system) / 1_000_000)]
    },
  },
  {
    name: 'process_start_time_seconds',
    type: 'gauge',
    help: 'When the process began, in seconds of the epoch.',
    labels: [],
    read: () => [gauge(performance.timeOrigin / 1000)],
  },
  {
    name: 'process_open_fds',
    type: 'gauge',
    help: 'Open files and connections; on Linux.',
    labels: [],
    read: () => (process.platform === 'linux' ? [gauge(readdirSync('/proc/self/fd').length)] : []),
  },
]
