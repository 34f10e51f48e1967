import type { MxRecord } from 'node:dns'

export type DnsAnswer = string[] | string[][] | MxRecord[]

/** What a query fails with when there is no such record. */
export const NO_RECORD = ['ENOTFOUND', 'ENODATA']

/**
 * Asks DNS for the records of one type that a name has, and answers as `resolve` of `node:dns/promises` does. Rejects with
 * its codes: `ENOTFOUND` and `ENODATA` say that there is none, any other that it cannot be found out now.
 */
export type DnsResolver = (name: string, type: string) => Promise<DnsAnswer>
