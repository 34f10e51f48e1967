import type { MxRecord } from 'node:dns'

export type DnsAnswer = string[] | string[][] | MxRecord[]

/** The codes of a query for which there is no such record. */
export const NO_RECORD = ['ENOTFOUND', 'ENODATA']

/**
 * Asks DNS for the records of one type that a name has, and answers as `resolve` of `node:dns/promises` does: a TXT record
 * is the list of its strings. Rejects with the codes of that module: `ENOTFOUND` and `ENODATA` mean that there is no such
 * record; any other is temporary.
 */
export type DnsResolver = (name: string, type: string) => Promise<DnsAnswer>

/** A query without records, by the code that `node:dns` gives it. */
export class DnsError extends Error {
  override readonly name = 'DnsError'
  readonly code: string

  constructor(
    code: string,
    of: { readonly name: string; readonly type: string },
    options?: ErrorOptions,
  ) {
    super(`DNS query ${of.type} "${of.name}": ${code}`, options)
    this.code = code
  }
}
