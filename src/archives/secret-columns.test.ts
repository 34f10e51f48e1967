import { randomBytes } from 'node:crypto'

import { beforeAll, describe, expect, test } from 'vitest'

import { hashKeyId, keyIdOf, withKeyId } from '#identity/passwords/hash-keys.ts'
import { Sealer } from '#platform/seal/sealer.ts'

import { ArchiveSeal } from './archive-seal.ts'
import { type RowSeals, arrivingRow, leavingRow } from './secret-columns.ts'
import { ARCHIVED_TABLES } from './site-tables.ts'

const PASSPHRASE = 'a passphrase for the road'
const HASH = '$argon2id$v=19$m=19456,t=2,p=1$c2FsdHNhbHQ$aGFzaGhhc2g'
const SRP = Buffer.from('salt and verifier')
let archive: ArchiveSeal
beforeAll(async () => {
  archive = await ArchiveSeal.create(PASSPHRASE)
})

/** An installation with one site. */
const installation = (siteId: string) => {
  const sealer = new Sealer(randomBytes(32))
  return {
    sealer,
    siteKey: { siteId, wrappedKey: sealer.newSiteKey(siteId) },
    passwordKey: sealer.derive('passwords'),
    archive,
  } satisfies RowSeals
}
type Row = Record<string, string | null>

const tableOf = (name: string) => {
  const table = ARCHIVED_TABLES.find(({ table }) => table === name)
  if (table === undefined) throw new Error(`No archive has "${name}"`)
  return table
}
const PASSWORDS = tableOf('user_password')
const USER = { user_pool_id: 'eu_1', sub: 'ann' }
const passwordRow = (at: RowSeals, srp: Buffer | null): string =>
  JSON.stringify({
    ...USER,
    hash: HASH,
    sealed_srp: srp && `\\x${at.sealer.seal(at.siteKey, 'srp:eu_1:ann', srp).toString('hex')}`,
  })

describe('a password on its way', () => {
  test('is sealed by the passphrase, and then by the key of the site that it comes to', async () => {
    const [from, to] = [installation('one'), installation('two')]
    const leaving = leavingRow(passwordRow(from, SRP), PASSWORDS, from)
    expect(leaving).not.toContain(HASH.slice(-11))
    const opened = await ArchiveSeal.open(PASSPHRASE, archive.header)
    const row = JSON.parse(arrivingRow(leaving, PASSWORDS, { ...to, archive: opened })) as Row
    const sealed = Buffer.from(row['sealed_srp']?.slice(2) ?? '', 'hex')
    expect(to.sealer.open(to.siteKey, 'srp:eu_1:ann', sealed).equals(SRP)).toBe(true)
    expect(row['hash']).toBe(withKeyId(HASH, hashKeyId(from.passwordKey)))
  })

  test('names its key until it is home again, by whatever way', () => {
    const [first, second, third] = [installation('one'), installation('two'), installation('three')]
    let line = passwordRow(first, null)
    const keyIds = [second, third, first].map((to, at) => {
      const from = [first, second, third][at] ?? first
      line = arrivingRow(leavingRow(line, PASSWORDS, from), PASSWORDS, to)
      return keyIdOf((JSON.parse(line) as Row)['hash'] ?? '')
    })
    const name = hashKeyId(first.passwordKey)
    expect(keyIds).toEqual([name, name, undefined])
    expect(JSON.parse(line)).toEqual({ ...USER, hash: HASH, sealed_srp: null })
  })

  test('opens neither as of another account nor with another passphrase', async () => {
    const [from, to] = [installation('one'), installation('two')]
    const leaving = leavingRow(passwordRow(from, null), PASSWORDS, from)
    expect(() => arrivingRow(leaving.replace('ann', 'bob'), PASSWORDS, to)).toThrow('does not open')
    const wrong = await ArchiveSeal.create('another passphrase')
    expect(() => arrivingRow(leaving, PASSWORDS, { ...to, archive: wrong })).toThrow(
      'does not open',
    )
    await expect(ArchiveSeal.open('another passphrase', archive.header)).rejects.toMatchObject({
      code: 'WrongPassphrase',
    })
  })
})
