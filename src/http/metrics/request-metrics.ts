import type { Installation } from './installation.ts'
import { type Metric, gauge, lasting, tallied, talliedTwice } from './metric.ts'

/** What is asked of the sites, and what becomes of it. */
export const REQUEST_METRICS: readonly Metric<Installation>[] = [
  {
    name: 'croft_http_requests_total',
    type: 'counter',
    help: 'HTTP requests that were answered, by what they are for and the class of the status.',
    labels: ['family', 'status'],
    read: ({ traffic }) => talliedTwice(['family', 'status'], traffic.requests.entries()),
  },
  {
    name: 'croft_http_request_duration_seconds',
    type: 'histogram',
    help: 'Time until the head of the answer, by what the request is for.',
    labels: ['family'],
    read: ({ traffic }) =>
      Array.from(traffic.durations, ([family, durations]) => lasting(durations, { family })),
  },
  {
    name: 'croft_calls_total',
    type: 'counter',
    help: 'Calls of operations, nested ones and those of jobs among them, by what the operation is made of and how they ended.',
    labels: ['kind', 'outcome'],
    read: ({ context }) =>
      talliedTwice(['kind', 'outcome'], context.callActivity.outcomes.entries()),
  },
  {
    name: 'croft_call_duration_seconds',
    type: 'histogram',
    help: 'Time that runs of operations took, waiting in queues included; kept answers are not counted.',
    labels: ['kind'],
    read: ({ context }) =>
      Array.from(context.callActivity.durations, ([kind, durations]) =>
        lasting(durations, { kind }),
      ),
  },
  {
    name: 'croft_response_cache_lookups_total',
    type: 'counter',
    help: 'Answers that were looked for among the kept ones, by where they were found.',
    labels: ['result'],
    read: ({ context }) => tallied('result', context.responseCache.lookups.entries()),
  },
  {
    name: 'croft_response_cache_bytes',
    type: 'gauge',
    help: 'Memory of the answers that are kept in this process.',
    labels: [],
    read: ({ context }) => [gauge(context.responseCache.sizeBytes)],
  },
  {
    name: 'croft_sign_ins_total',
    type: 'counter',
    help: 'Sign-ins, by the pool and how they ended; blocked ones had to wait after too many failures.',
    labels: ['pool', 'outcome'],
    *read({ context }) {
      for (const [pool, event, value] of context.securityEvents.counts.entries()) {
        const outcome = SIGN_INS.get(event)
        if (outcome !== undefined) yield { labels: { pool, outcome }, value }
      }
    },
  },
  {
    name: 'croft_token_replays_total',
    type: 'counter',
    help: 'Codes and refresh tokens that were used a second time, which ends the sign-in they are of.',
    labels: ['pool', 'token'],
    *read({ context }) {
      for (const [pool, event, value] of context.securityEvents.counts.entries()) {
        const token = REPLAYS.get(event)
        if (token !== undefined) yield { labels: { pool, token }, value }
      }
    },
  },
]

const SIGN_INS: ReadonlyMap<string, string> = new Map([
  ['sign-in.succeeded', 'succeeded'],
  ['sign-in.failed', 'failed'],
  ['sign-in.blocked', 'blocked'],
])

const REPLAYS: ReadonlyMap<string, string> = new Map([
  ['authorization-code.replayed', 'authorization_code'],
  ['refresh-token.replayed', 'refresh_token'],
])
