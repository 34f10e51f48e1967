import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

import type { CroftProcess } from '#bench/croft/croft-process.ts'
import { childrenOf } from '#test/process-table.ts'
import { runs } from '#test/sandbox-processes.ts'

const AT_ONCE = 50
/** Streams of one address. */
const PER_ADDRESS = 100
const SETTLING_MS = 3000

interface ServiceMemory {
  readonly service: number
  readonly hosts: number
}

/** Clients that ask and then do nothing: neither read on, nor send the rest. */
export class WaitingClients implements AsyncDisposable {
  readonly #croft: CroftProcess
  readonly #domain: string
  readonly #sockets: Socket[] = []
  readonly #statuses = new Map<string, number>()

  constructor(croft: CroftProcess, domain: string) {
    this.#croft = croft
    this.#domain = domain
  }

  /** How many got which status so far. */
  get summary(): string {
    const answered = [...this.#statuses.values()].reduce((sum, count) => sum + count, 0)
    const statuses = [...this.#statuses].map(([status, count]) => `${count} × ${status}`)
    return [...statuses, `${this.#sockets.length - answered} without an answer`].join(', ')
  }

  /** `request` is a method, or `JSON` for a call with a payload, and a path. */
  async open(count: number, request: string): Promise<void> {
    for (let opened = 0; opened < count; opened += AT_ONCE) {
      const some = Math.min(AT_ONCE, count - opened)
      await Promise.all(Array.from({ length: some }, (_, at) => this.#ask(request, opened + at)))
    }
  }

  leave(): void {
    for (const socket of this.#sockets.splice(0)) socket.destroy()
    this.#statuses.clear()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.leave()
    await delay(SETTLING_MS)
  }

  /** What the service and the processes of site code hold for themselves, once that has stopped moving. */
  async settledMemory(): Promise<ServiceMemory> {
    await delay(SETTLING_MS)
    const { pid } = this.#croft
    const under = childrenOf(pid)
    const service = under.find(({ parent, command }) => parent === pid && command.includes('bun'))
    const hosts = under.filter((one) => runs(one, 'host'))
    return {
      service: ownBytes(service?.pid ?? pid),
      hosts: hosts.reduce((total, host) => total + ownBytes(host.pid), 0),
    }
  }

  async #ask(request: string, index: number): Promise<void> {
    const { hostname, port } = new URL(this.#croft.origin)
    const socket = connect(Number(port), hostname).on('error', () => {})
    this.#sockets.push(socket)
    await once(socket, 'connect')
    const [method = '', path = ''] = request.split(' ')
    const address = `198.51.100.${Math.floor(index / PER_ADDRESS)}`
    const first = once(socket, 'data')
    const head = `host: ${this.#domain}\r\nx-forwarded-for: ${address}\r\n`
    if (method === 'GET') socket.write(`GET ${path} HTTP/1.1\r\n${head}\r\n`)
    else if (method === 'JSON')
      socket.write(
        `POST ${path} HTTP/1.1\r\n${head}content-type: application/json\r\ncontent-length: 13\r\n\r\n{"payload":1}`,
      )
    else socket.write(`POST ${path} HTTP/1.1\r\n${head}content-length: 1000000\r\n\r\nx`)
    void first.then(
      ([data]) => {
        socket.pause()
        const status = String(data).slice(9, 12)
        this.#statuses.set(status, (this.#statuses.get(status) ?? 0) + 1)
      },
      () => {},
    )
    if (method === 'GET' && !path.includes('never')) await Promise.race([first, delay(5000)])
  }
}

const readProc = (pid: number, file: string): string => {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    // It has ended.
    return ''
  }
}

/** Pages of its own, in memory or swapped out. */
const ownBytes = (pid: number): number =>
  [
    ...readProc(pid, 'smaps_rollup').matchAll(/^(?:Private_Clean|Private_Dirty):\s+(\d+) kB/gm),
  ].reduce((sum, [, kb]) => sum + Number(kb) * 1024, 0)
