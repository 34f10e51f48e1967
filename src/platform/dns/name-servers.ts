import { readFile } from 'node:fs/promises'
import { isIP } from 'node:net'

import { ifMissing } from '#base/error-code.ts'
import type { DnsServerAddress } from '#config/config.ts'

const RESOLV_CONF = '/etc/resolv.conf'
/** How long a change of the file may stay unnoticed. */
const REREAD_MS = 5000
/** As many as the C library asks (resolv.conf(5)). */
const MAX_SERVERS = 3
const DNS_PORT = 53
/** A server that was silent comes last for so long. */
const AWAY_MS = 30_000
/** One that does not keep the case of letters is tried again. */
const CASE_LOST_MS = 600_000

/** A server to ask, and what was seen of it. */
export class NameServer implements DnsServerAddress {
  readonly address: string
  readonly port: number
  #silentUntil = 0
  #caseLostUntil = 0

  constructor({ address, port }: DnsServerAddress) {
    this.address = address
    this.port = port
  }

  get isSilent(): boolean {
    return performance.now() < this.#silentUntil
  }

  get keepsCase(): boolean {
    return performance.now() >= this.#caseLostUntil
  }

  noteSilence(): void {
    this.#silentUntil = performance.now() + AWAY_MS
  }

  noteResponse(): void {
    this.#silentUntil = 0
  }

  noteCaseLost(): void {
    this.#caseLostUntil = performance.now() + CASE_LOST_MS
  }
}

/** The servers that are configured, or those of `/etc/resolv.conf`, which is read again when it changes. */
export class NameServers {
  readonly #file: string | undefined
  #servers: readonly NameServer[]
  #text: string | undefined
  #readAt = -Infinity

  constructor(configured?: readonly DnsServerAddress[], file = RESOLV_CONF) {
    this.#file = configured === undefined ? file : undefined
    this.#servers = (configured ?? []).map((server) => new NameServer(server))
  }

  /** Those that were silent come last. */
  async inOrder(): Promise<readonly NameServer[]> {
    if (this.#file !== undefined && performance.now() - this.#readAt > REREAD_MS) {
      this.#readAt = performance.now()
      const text = await readFile(this.#file, 'utf8').catch(ifMissing(''))
      if (text !== this.#text) this.#servers = serversIn(text).map((each) => new NameServer(each))
      this.#text = text
    }
    return this.#servers.toSorted((one, other) => Number(one.isSilent) - Number(other.isSilent))
  }
}

/** The `nameserver` lines of resolv.conf(5); without one the C library asks this machine, and so do we. */
export function serversIn(text: string): DnsServerAddress[] {
  const found = [...text.matchAll(/^nameserver[ \t]+(\S+)/gm)].map(([, address = '']) => address)
  const addresses = found.filter((address) => isIP(address) > 0).slice(0, MAX_SERVERS)
  return (addresses.length === 0 ? ['127.0.0.1'] : addresses).map((address) => ({
    address,
    port: DNS_PORT,
  }))
}
