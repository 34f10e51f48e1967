import { type IncomingMessage, request } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'

import { type Neighbour, Outcomes } from './neighbour.ts'
import { SoakSite } from './site.ts'

const READERS = 20
const WAITING = 100
const LEAVING = 60
const LEAVE_EVERY_MS = 10_000
const REOPEN_MS = 100
/** As much as its client takes at /?endless, and an event every second otherwise. */
const CODE = `const chunk = new Uint8Array(16 * 1024)
const endless = (controller) => controller.enqueue(chunk)
const idle = async (controller) => {
  await new Promise((resolve) => setTimeout(resolve, 1000))
  controller.enqueue(new TextEncoder().encode('data: 1\\n\\n'))
}
export default {
  fetch: (asked) => new Response(new ReadableStream({ pull: asked.url.includes('endless') ? endless : idle })),
}`

/** Clients that read an endless response, clients that wait for events, and clients that leave without reading. */
export const streaming: Neighbour = {
  name: 'streaming',
  async start(installation) {
    const site = await SoakSite.create(installation, 'streaming.test')
    await site.publish('stream', CODE, { timeoutSeconds: 900 }, { http: true })
    const { port } = installation.croft
    const outcomes = new Outcomes()
    const ending = new AbortController()
    const { signal } = ending
    const open = (query: string) => ask(port, `/data/public/stream${query}`, signal)
    const read = async (query: string): Promise<void> => {
      while (!signal.aborted) {
        const response = await open(query)
        outcomes.count(`${query} ${response?.statusCode ?? 'refused'}`)
        for await (const chunk of chunksOf(response)) outcomes.count('bytes', chunk.length)
        await delay(REOPEN_MS)
      }
    }
    const leave = async (): Promise<void> => {
      while (!signal.aborted) {
        const left = await Promise.all(Array.from({ length: LEAVING }, () => open('?endless')))
        await delay(REOPEN_MS)
        for (const response of left) response?.destroy()
        await delay(LEAVE_EVERY_MS, undefined, { signal }).catch(() => {})
      }
    }
    const work = Promise.all([
      ...Array.from({ length: READERS }, () => read('?endless')),
      ...Array.from({ length: WAITING }, () => read('?idle')),
      leave(),
    ])
    return async () => {
      ending.abort()
      await work
      return outcomes.toString()
    }
  },
}

/** The response once it has begun; undefined when the connection failed. */
async function ask(
  port: number,
  path: string,
  signal: AbortSignal,
): Promise<IncomingMessage | undefined> {
  const { promise, resolve } = Promise.withResolvers<IncomingMessage | undefined>()
  const headers = { host: 'streaming.test' }
  request({ port, host: '127.0.0.1', path, headers, agent: false, signal }, resolve)
    .on('error', () => resolve(undefined))
    .end()
  const response = await promise
  return response?.on('error', () => {})
}

async function* chunksOf(response: IncomingMessage | undefined): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of response ?? []) yield chunk as Buffer
  } catch {
    // The service ended the stream, or this run did.
  }
}
