import type { HostPlace, HostRole } from './host-place.ts'
import { boundedHost, type Host, newSeat, type Seat } from './host-seat.ts'
import { cpuMs, rssBytes } from './process-usage.ts'
import type { SandboxStatus } from './sandbox.ts'

/** The places that hosts may have. The first ordinary one is never empty for long, all others only while they are needed. */
export class HostSeats {
  readonly first: Seat
  readonly spare = newSeat({ role: 'spare', index: 0 })
  readonly #ordinary: readonly [Seat, ...Seat[]]
  readonly #others = new Map<HostRole, Seat>()

  constructor(ordinaryHosts: number) {
    this.first = newSeat({ role: 'ordinary', index: 0 })
    const more = Array.from({ length: ordinaryHosts - 1 }, (_, at) =>
      newSeat({ role: 'ordinary', index: at + 1 }),
    )
    this.#ordinary = [this.first, ...more]
    for (const role of ['apart', 'long', 'quarantine', 'load'] as const) {
      this.#others.set(role, newSeat({ role, index: 0 }))
    }
    this.#others.set('spare', this.spare)
  }

  get all(): Seat[] {
    return [...this.#ordinary, ...this.#others.values()]
  }

  at({ role, index }: HostPlace): Seat | undefined {
    return role === 'ordinary' ? this.#ordinary[index] : this.#others.get(role)
  }

  /** Whether it was asked for of late, or is always to be taken. */
  isWanted(seat: Seat): boolean {
    return seat === this.first || seat.ending !== undefined
  }

  /** The ordinary hosts together. */
  ordinaryUse(): { readonly hosts: number; readonly cpuMs: number } {
    const use = { hosts: 0, cpuMs: 0 }
    for (const { host } of this.#ordinary) {
      if (!host) continue
      use.hosts += 1
      use.cpuMs += cpuMs(host.process.pid) ?? 0
    }
    return use
  }

  /** Those in a place, and those that only end what they have begun. */
  status(hosts: Iterable<Host>): SandboxStatus['hosts'] {
    const taken = this.all.filter((seat) => seat === this.first || seat.host)
    const seated = taken.map(({ place: { role }, host, losses }) => {
      const pid = host?.process.pid ?? 0
      const ready = host?.isConnected === true
      return { pid, role, ready, restarts: losses, rssBytes: rssBytes(pid) }
    })
    const leaving = Array.from(hosts, boundedHost).filter(({ isLeaving }) => isLeaving)
    return [
      ...seated,
      ...leaving.map(({ pid, role }) => {
        return { pid, role, ready: false, restarts: 0, rssBytes: rssBytes(pid) }
      }),
    ]
  }
}
