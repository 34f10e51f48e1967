import { lookup } from 'node:dns/promises'

import { answerInTime } from '#base/answer-in-time.ts'

import { textOption } from './command.ts'

/** A resolver that nobody answers for takes longer than a person waits. */
const LOOKUP_MS = 3000
/** Every name below it leads to this machine (RFC 6761), which says nothing about a site. */
const LOOPBACK = /(?:^|\.)localhost$/

export const ADMIN_DOMAIN_OPTION = textOption(
  '--admin-domain <name>',
  'where its administration is, such as admin.{domain}, or none for the domain itself',
)

export const AUTH_DOMAIN_OPTION = textOption(
  '--auth-domain <name>',
  'where its visitors sign in, such as auth.{domain}, or none for the domain itself',
)

/** `{label}.{domain}` where it leads to an address of the domain's; null for a name that leads nowhere, or elsewhere. */
export async function resolvingName(
  label: 'admin' | 'auth',
  domain: string,
  addressesOf: (name: string) => Promise<readonly string[]> = lookedUp,
): Promise<string | null> {
  if (LOOPBACK.test(domain)) return null
  const name = `${label}.${domain}`
  const [own, others] = await Promise.all([domain, name].map((host) => addressesIn(host)))
  return others?.some((address) => own?.includes(address)) === true ? name : null

  function addressesIn(host: string): Promise<readonly string[]> {
    return answerInTime(addressesOf(host), LOOKUP_MS, [])
  }
}

const lookedUp = async (name: string): Promise<readonly string[]> =>
  (await lookup(name, { all: true })).map(({ address }) => address)
