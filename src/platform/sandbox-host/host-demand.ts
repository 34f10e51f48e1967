import type { HostRole } from './slot-key.ts'

/** So many calls in so long: a lost host would keep the next one waiting while another starts, so a spare is kept ready. */
const STANDBY_CALLS = 10
const WINDOW_MS = 10_000
/** How often the processor time of the ordinary hosts is looked at while calls come. */
const LOOK_EVERY_MS = 1000
/** Share of a processor from which on a host counts as full: the next one is started. */
const FULL = 0.7
/** Share of a processor each at which as many hosts as there are stay. */
const WORTHWHILE = 0.4

/** Tells from the calls that come which hosts are worth their memory beside the first one. */
export class HostDemand {
  readonly #deps
  #windowMs = Number.NEGATIVE_INFINITY
  #calls = 0
  #looked = { atMs: Number.NEGATIVE_INFINITY, cpuMs: 0, hosts: 0 }

  constructor(deps: {
    /** Ordinary hosts at most. */
    readonly ordinaryHosts: number
    /** Has such a host ready, as long as this is called time and again. */
    needed(role: HostRole, index: number): void
    /** Processor time of all ordinary hosts, and how many there are. */
    ordinary(): { readonly hosts: number; readonly cpuMs: number }
  }) {
    this.#deps = deps
  }

  /** A call has come. */
  called(nowMs: number): void {
    if (nowMs - this.#windowMs > WINDOW_MS) {
      this.#windowMs = nowMs
      this.#calls = 0
    }
    this.#calls += 1
    if (this.#calls === STANDBY_CALLS) this.#deps.needed('spare', 0)
    if (this.#deps.ordinaryHosts > 1 && nowMs - this.#looked.atMs >= LOOK_EVERY_MS)
      this.#look(nowMs)
  }

  #look(nowMs: number): void {
    const { atMs, cpuMs: beforeMs, hosts: before } = this.#looked
    const { hosts, cpuMs } = this.#deps.ordinary()
    this.#looked = { atMs: nowMs, cpuMs, hosts }
    // A host that came or went brings or takes its time with it.
    if (hosts !== before) return
    const busy = (cpuMs - beforeMs) / (nowMs - atMs)
    const worthwhile = Math.min(hosts, Math.ceil(busy / WORTHWHILE))
    const wanted = busy > hosts * FULL ? hosts + 1 : worthwhile
    for (let index = 1; index < Math.min(wanted, this.#deps.ordinaryHosts); index += 1) {
      this.#deps.needed('ordinary', index)
    }
  }
}
