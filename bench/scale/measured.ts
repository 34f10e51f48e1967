/** What a replica takes, as measured. */
export interface Measured {
  /** The service without the processes that run site code, with no site in memory. */
  readonly serviceMb: number
  /** A host process without an isolate, and how many there are beside those of ordinary sites. */
  readonly idleHostMb: number
  readonly otherHosts: number
  /** What a site in memory takes of the service: its name, its revision, its keys. */
  readonly knownSiteMb: number
  readonly warmSiteMb: number
  /** Processor time, of all processes of a replica. */
  readonly warmCallCpuMs: number
  readonly coldCallCpuMs: number
  /** For the first call of a site that is not in memory. */
  readonly transactionsPerRead: number
  /** To PostgreSQL, of each replica. */
  readonly connections: number
  /** Sites that a replica has in memory at most. */
  readonly knownSites: number
}

/** By `test/scale`, the calls of warm isolates by `bench/RESULTS.md` (100 sites over 32 connections). docs/explanation/scale.md says on what. */
export const MEASURED: Measured = {
  serviceMb: 147,
  idleHostMb: 46,
  otherHosts: 2,
  knownSiteMb: 0.019,
  warmSiteMb: 3.9,
  warmCallCpuMs: 0.16,
  coldCallCpuMs: 21,
  transactionsPerRead: 3.5,
  connections: 20,
  knownSites: 20_000,
}
