import { Agent, request } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'

import type { CroftProcess } from '#bench/croft/croft-process.ts'
import { quantile } from '#bench/median.ts'

const EVERY_MS = 50
/** Of one site, that wait: more would only wait for the generator. */
const MOST_OPEN = 40

export interface Victims {
  readonly domain: string
  readonly calls: number
  readonly failed: number
  readonly p50: number
  readonly p99: number
  readonly longest: number
}

/** Calls the operation `short` of each site twenty times a second, one call not waiting for the other. */
export const measureVictims = (
  croft: CroftProcess,
  domains: readonly string[],
  seconds: number,
): Promise<Victims[]> => Promise.all(domains.map((domain) => measured(croft, domain, seconds)))

/** Whether the short calls of all of the sites are answered. */
export async function answerShort(
  { origin }: CroftProcess,
  domains: readonly string[],
): Promise<boolean> {
  const agent = new Agent()
  const statuses = await Promise.all(domains.map((domain) => calledShort(origin, domain, agent)))
  return statuses.every((status) => status === 200)
}

async function measured(
  { origin }: CroftProcess,
  domain: string,
  seconds: number,
): Promise<Victims> {
  const latenciesMs: number[] = []
  const open = new Set<Promise<void>>()
  let failed = 0
  // Of its own: the calls of one site do not wait for those of the other in the generator.
  const agent = new Agent({ keepAlive: true })
  const call = async (): Promise<void> => {
    const startMs = performance.now()
    const status = await calledShort(origin, domain, agent)
    latenciesMs.push(performance.now() - startMs)
    if (status !== 200) failed += 1
  }
  for (const endMs = performance.now() + seconds * 1000; performance.now() < endMs;) {
    if (open.size < MOST_OPEN) {
      const one = call().finally(() => open.delete(one))
      open.add(one)
    }
    await delay(EVERY_MS)
  }
  await Promise.all(open)
  agent.destroy()
  const [p50 = 0, p99 = 0, longest = 0] = [0.5, 0.99, 1].map((share) =>
    quantile(latenciesMs, share),
  )
  return { domain, calls: latenciesMs.length, failed, p50, p99, longest }
}

/** The status; 0 where the connection ended without one. */
function calledShort(origin: string, domain: string, agent: Agent): Promise<number> {
  const headers = { host: domain, 'content-type': 'application/json' }
  return new Promise((resolve) => {
    request(`${origin}/data/public/short`, { agent, method: 'POST', headers }, (response) => {
      response.resume().on('close', () => resolve(response.statusCode ?? 0))
    })
      .on('error', () => resolve(0))
      .end('{"payload":1}')
  })
}
