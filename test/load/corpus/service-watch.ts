import { Agent, get } from 'node:http'
import { parentPort, workerData } from 'node:worker_threads'

import { quantile } from '#bench/median.ts'
import { rssBytes } from '#platform/sandbox-host/process-usage.ts'

const EVERY_MS = 5

/** What a service did since the last look. */
export interface Watched {
  readonly calls: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly longestMs: number
  /** The most that its process held. */
  readonly rssBytes: number
}

export interface WatchedService {
  readonly origin: string
  readonly pid: number
}

/**
 * The program of a worker thread: asks a service for a sign of life every 5 ms, whether it has answered the last one or not,
 * and answers each message with what it saw. A thread of its own, since what sends mail stops now and then itself.
 */
function watch({ origin, pid }: WatchedService): void {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 })
  let ms: number[] = []
  let mostBytes = 0
  let dueMs = performance.now()
  const ask = (): void => {
    for (; dueMs <= performance.now(); dueMs += EVERY_MS) {
      const askedMs = dueMs
      get(`${origin}/livez`, { agent }, (answer) => {
        answer.resume().once('end', () => ms.push(performance.now() - askedMs))
      }).once('error', () => ms.push(Infinity))
    }
    mostBytes = Math.max(mostBytes, rssBytes(pid))
  }
  setInterval(ask, 1)
  parentPort?.on('message', () => {
    const watched: Watched = {
      calls: ms.length,
      p50Ms: quantile(ms, 0.5),
      p99Ms: quantile(ms, 0.99),
      longestMs: Math.max(...ms),
      rssBytes: mostBytes,
    }
    ms = []
    mostBytes = 0
    parentPort?.postMessage(watched)
  })
}

// The starter of the worker says what to watch.
watch(workerData as WatchedService)
