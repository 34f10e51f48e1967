import type { Installation } from './installation.ts'
import { type Metric, gauge, lasting, tallied } from './metric.ts'

/** What is done behind the requests: queues, jobs of sites, mail. */
export const WORK_METRICS: readonly Metric<Installation>[] = [
  {
    name: 'croft_queue_jobs',
    type: 'gauge',
    help: 'Jobs of the service in all processes, by queue and state; those of queues whose name ends in .dead were given up. Counted every few seconds.',
    labels: ['queue', 'state'],
    read: ({ queues = [] }) =>
      queues.flatMap(({ queue, ...states }) => tallied('state', Object.entries(states), { queue })),
  },
  {
    name: 'croft_queue_attempts_total',
    type: 'counter',
    help: 'Attempts at jobs of the service in this process, by queue and end; handed_back ones begin again elsewhere.',
    labels: ['queue', 'outcome'],
    read: ({ context }) =>
      Array.from(context.queue.activity.ends, ([queue, ends]) =>
        tallied('outcome', ends.entries(), { queue }),
      ).flat(),
  },
  {
    name: 'croft_job_attempts_total',
    type: 'counter',
    help: 'Attempts at runs of sites’ jobs in this process, by how they ended.',
    labels: ['outcome'],
    read: ({ context }) => tallied('outcome', context.jobActivity.attempts.entries()),
  },
  {
    name: 'croft_job_duration_seconds',
    type: 'histogram',
    help: 'Time of attempts at runs of sites’ jobs.',
    labels: [],
    read: ({ context }) => [lasting(context.jobActivity.durations)],
  },
  {
    name: 'croft_job_tick_delay_seconds',
    type: 'histogram',
    help: 'How long after their scheduled time runs were queued.',
    labels: [],
    read: ({ context }) => [lasting(context.jobActivity.tickDelays)],
  },
  {
    name: 'croft_mail_received_total',
    type: 'counter',
    help: 'Messages at the SMTP ports of this process, by port and the last word on them.',
    labels: ['listener', 'outcome'],
    read: ({ context: { smtp, submission } }) =>
      Object.entries({ smtp, submission }).flatMap(([listener, { messages }]) =>
        tallied('outcome', messages.entries(), { listener }),
      ),
  },
  {
    name: 'croft_mail_reparsed_total',
    type: 'counter',
    help: 'Messages that an earlier version had parsed and this process parsed again: remade, failed where it could not and they stay as they were, or hindered this time. Sites that have some are jobs of the queue mail-reparse.',
    labels: ['outcome'],
    read: ({ context }) => tallied('outcome', context.mailReparsing.outcomes.entries()),
  },
  {
    name: 'croft_smtp_connections',
    type: 'gauge',
    help: 'Open connections at the SMTP ports of this process.',
    labels: ['listener'],
    read: ({ context: { smtp, submission } }) =>
      Object.entries({ smtp, submission }).map(([listener, { connections }]) =>
        gauge(connections, { listener }),
      ),
  },
  {
    name: 'croft_mail_sent_total',
    type: 'counter',
    help: 'Messages handed to the gateway by this process: sent, kept here where there is no gateway, refused permanently, or failed this time.',
    labels: ['outcome'],
    read: ({ context }) => tallied('outcome', context.outgoingTransport.outcomes.entries()),
  },
  {
    name: 'croft_mail_send_duration_seconds',
    type: 'histogram',
    help: 'Time that it took to hand a message to the gateway.',
    labels: [],
    read: ({ context }) => [lasting(context.outgoingTransport.durations)],
  },
  {
    name: 'croft_mail_bounces_total',
    type: 'counter',
    help: 'Recipients of mail of mailboxes that it came back from.',
    labels: [],
    read: ({ context }) => [gauge(context.bounces.count)],
  },
]
