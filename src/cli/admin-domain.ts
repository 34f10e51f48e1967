import { lookup } from 'node:dns/promises'

import { answerInTime } from '#base/answer-in-time.ts'

import { textOption } from './command.ts'

/** A resolver that nobody answers for takes longer than a person waits. */
const LOOKUP_MS = 3000

export const ADMIN_DOMAIN_OPTION = textOption(
  '--admin-domain <name>',
  'where its administration is, such as admin.{domain}, or none for the domain itself',
)

/** `admin.{domain}` where it leads to an address of the domain's; null for a name that leads nowhere, or elsewhere. */
export async function resolvingAdminDomain(
  domain: string,
  addressesOf: (name: string) => Promise<readonly string[]> = lookedUp,
): Promise<string | null> {
  const name = `admin.${domain}`
  const [own, others] = await Promise.all([domain, name].map((host) => addressesIn(host)))
  return others?.some((address) => own?.includes(address)) === true ? name : null

  function addressesIn(host: string): Promise<readonly string[]> {
    return answerInTime(addressesOf(host), LOOKUP_MS, [])
  }
}

const lookedUp = async (name: string): Promise<readonly string[]> =>
  (await lookup(name, { all: true })).map(({ address }) => address)
