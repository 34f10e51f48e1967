import { setTimeout as delay } from 'node:timers/promises'

import type { Static } from '@sinclair/typebox'

import { ReparseProgress } from '#mail/reparsing/model.ts'

import { type CliCommand, type Invocation, flagOption } from './command.ts'
import { UsageError } from './errors.ts'
import { type ServiceClient, sitePath } from './service-client.ts'

const POLL_MS = 1000
/** Of a site with very many messages the count itself takes a while: it is asked for a tenth of the time at most. */
const POLL_RATIO = 10
/** Marking a million messages takes the database half a minute. */
const PATIENCE_MS = 300_000

type Progress = Static<typeof ReparseProgress>

export const mailReparse: CliCommand = {
  name: 'mail reparse',
  summary: 'Parse and index the stored messages of a site again, in the background',
  words: ['DOMAIN'],
  options: [
    flagOption('--again', 'also messages that this version has parsed'),
    flagOption('--detach', 'start it and return at once'),
    flagOption('--status', 'print the progress, and start nothing'),
  ],
  async run(call) {
    const { args, service } = call
    const site = args.word
    if (args.flag('status') && (args.flag('again') || args.flag('detach'))) {
      throw new UsageError('--status starts nothing: leave out --again and --detach')
    }
    const started = args.flag('status')
      ? await read(service, site)
      : await start(service, site, args.flag('again'))
    const isWatched = !args.flag('status') && !args.flag('detach')
    const progress = isWatched ? await watch(call, started) : started
    return { json: progress, text: resultOf(site, progress) }
  },
}

const read = (service: ServiceClient, site: string): Promise<Progress> =>
  service.portalAs(ReparseProgress, 'GET', sitePath(site, '/mail-reparse'), {
    timeoutMs: PATIENCE_MS,
  })

const start = (service: ServiceClient, site: string, again: boolean): Promise<Progress> =>
  service.portalAs(ReparseProgress, 'POST', sitePath(site, '/mail-reparse'), {
    body: { again },
    timeoutMs: PATIENCE_MS,
  })

/** Reports how far it is until nothing is left. */
async function watch(
  { args, service, progress }: Invocation,
  started: Progress,
): Promise<Progress> {
  let now = started
  if (now.left === 0) return now
  progress('It goes on when this command is interrupted; --status says how far it is')
  const begunMs = performance.now()
  let pollMs = POLL_MS
  while (now.left > 0) {
    await delay(pollMs)
    const askedMs = performance.now()
    now = await read(service, args.word)
    const answeredMs = performance.now()
    pollMs = Math.max(POLL_MS, (answeredMs - askedMs) * POLL_RATIO)
    const seconds = (answeredMs - begunMs) / 1000
    progress(progressLine(now, (started.left - now.left) / seconds))
  }
  return now
}

function progressLine({ messages, left }: Progress, perSecond: number): string {
  const done = `${messages - left} of ${messages} messages`
  if (left === 0) return `${done}, ${perSecond.toFixed(1)} a second`
  if (perSecond <= 0) return `${done}; the service waits for its turn`
  return `${done}, ${perSecond.toFixed(1)} a second, ${timeOf(left / perSecond)} left`
}

function timeOf(seconds: number): string {
  const minutes = Math.round(seconds / 60)
  if (seconds < 90) return `${Math.ceil(seconds)} s`
  return minutes < 90 ? `${minutes} min` : `${(minutes / 60).toFixed(1)} h`
}

function resultOf(site: string, { messages, left, failed }: Progress): string {
  const state =
    left === 0
      ? `${messages} of ${messages} messages of ${site} are parsed and indexed as this version does it.`
      : `${left} of ${messages} messages of ${site} are to be parsed and indexed again.`
  if (failed === 0) return state
  return `${state}\n${failed} of them could not be parsed again and show what they did before. The log says why: "mail cannot be parsed again".`
}
