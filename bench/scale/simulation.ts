import { LRUCache } from 'lru-cache'

import { Chance } from '#test/chance.ts'

import type { Measured } from './measured.ts'
import { Popularity } from './popularity.ts'

/** `any`: a proxy gives each call to whichever replica is next. `by-host`: all calls of a site to one of them. */
export type Routing = 'any' | 'by-host'

export interface Plan {
  readonly sites: number
  readonly replicas: number
  readonly routing: Routing
  /** Of each replica, for ordinary sites. */
  readonly hosts: number
  readonly warmIsolates: number
  /** Of all sites together. */
  readonly callsPerSecond: number
  readonly publishesPerSecond: number
  /** See `Popularity`. */
  readonly exponent: number
  /** That are counted; as many come before. */
  readonly calls: number
  readonly seed: number
}

export interface Outcome {
  /** Of the replica that has most of it. */
  readonly knownSites: number
  readonly warmSites: number
  readonly memoryMb: number
  /** Of all calls, from 0 to 1: those whose isolate was not there, and of these those whose site had to be read. */
  readonly coldShare: number
  readonly readShare: number
  readonly coldPerSecond: number
  /** For sites that had to be read, of all replicas. */
  readonly transactionsPerSecond: number
  /** Processor time of all replicas, in seconds a second. */
  readonly cores: number
  /** Of a publish, to all replicas, and what part of these has the site in memory. */
  readonly notificationsPerSecond: number
  readonly heededShare: number
  readonly connections: number
}

type Kept = LRUCache<number, true>

class Replica {
  readonly known: Kept
  readonly hosts: readonly Kept[]

  constructor({ hosts, warmIsolates }: Plan, { knownSites }: Measured) {
    this.known = new LRUCache({ max: knownSites })
    this.hosts = Array.from({ length: hosts }, () => new LRUCache({ max: warmIsolates }))
  }

  get warm(): number {
    return this.hosts.reduce((sum, host) => sum + host.size, 0)
  }

  /** A site keeps to one host. */
  call(site: number): { readonly isWarm: boolean; readonly isKnown: boolean } {
    const host = this.hosts[spread(site) % this.hosts.length]
    return { isKnown: use(this.known, site), isWarm: host !== undefined && use(host, site) }
  }
}

/** Whether it was there. It is from now on. */
function use(kept: Kept, site: number): boolean {
  if (kept.get(site) === true) return true
  kept.set(site, true)
  return false
}

/** Sends calls, as a proxy would, to replicas that keep what was asked for last. */
export function simulate(plan: Plan, measured: Measured): Outcome {
  const chance = new Chance(plan.seed)
  const popularity = new Popularity(plan.sites, plan.exponent)
  const replicas = Array.from({ length: plan.replicas }, () => new Replica(plan, measured))
  const send = (at: number) => {
    const site = popularity.draw(chance.next())
    return replicas[plan.routing === 'any' ? at % replicas.length : homeOf(plan, site)]?.call(site)
  }
  // As after a day: what is asked for most is there, and came last. Then as many calls as are counted.
  const asked = plan.routing === 'any' ? Math.min(plan.sites, measured.knownSites) : plan.sites
  for (let site = asked - 1; site >= 0; site -= 1) placeSite(plan, replicas, site)
  for (let at = 0; at < plan.calls; at += 1) send(at)
  let [cold, unknown] = [0, 0]
  for (let at = 0; at < plan.calls; at += 1) {
    const met = send(at)
    if (met?.isWarm !== true) cold += 1
    if (met?.isKnown !== true) unknown += 1
  }
  const share = { cold: cold / plan.calls, unknown: unknown / plan.calls }
  return {
    ...loadOf(plan, measured, share),
    ...sizeOf(replicas, measured),
    ...fanOut(plan, replicas),
  }
}

/** The replica of a site where it has one. */
const homeOf = ({ sites, replicas }: Plan, site: number): number => spread(site + sites) % replicas

function placeSite(plan: Plan, replicas: readonly Replica[], site: number): void {
  const homes = plan.routing === 'any' ? replicas : [replicas[homeOf(plan, site)]]
  for (const home of homes) home?.call(site)
}

function loadOf(
  { callsPerSecond, replicas }: Plan,
  measured: Measured,
  share: { readonly cold: number; readonly unknown: number },
) {
  const coldPerSecond = callsPerSecond * share.cold
  const warmCpu = (callsPerSecond - coldPerSecond) * measured.warmCallCpuMs
  return {
    coldShare: share.cold,
    readShare: share.unknown,
    coldPerSecond,
    transactionsPerSecond: callsPerSecond * share.unknown * measured.transactionsPerRead,
    cores: (warmCpu + coldPerSecond * measured.coldCallCpuMs) / 1000,
    connections: replicas * measured.connections,
  }
}

function sizeOf(replicas: readonly Replica[], measured: Measured) {
  const knownSites = Math.max(...replicas.map(({ known }) => known.size))
  const warmSites = Math.max(...replicas.map(({ warm }) => warm))
  const hosts = replicas[0]?.hosts.length ?? 0
  const memoryMb =
    measured.serviceMb +
    measured.idleHostMb * (hosts + measured.otherHosts) +
    knownSites * measured.knownSiteMb +
    warmSites * measured.warmSiteMb
  return { knownSites, warmSites, memoryMb }
}

/** Any site may publish, not only one that is visited. */
function fanOut({ sites, publishesPerSecond }: Plan, replicas: readonly Replica[]) {
  const known = replicas.reduce((sum, replica) => sum + replica.known.size, 0)
  return {
    notificationsPerSecond: publishesPerSecond * replicas.length,
    heededShare: known / (sites * replicas.length),
  }
}

/** Neighbours in rank are no neighbours any more (the finalizer of MurmurHash3). */
function spread(site: number): number {
  let mixed = Math.imul(site ^ (site >>> 16), 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return (mixed ^ (mixed >>> 16)) >>> 0
}
