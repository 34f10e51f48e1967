import { chown, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { expect, inject, test } from 'vitest'

import { CroftProcess } from '#test/croft-process.ts'

const UNIT = join(import.meta.dirname, '../../deploy/systemd/croft.service')
const DAEMON = 1
const AS_ROOT = process.getuid?.() === 0 && process.platform === 'linux'

test.runIf(AS_ROOT)("starts behind all walls with the unit's capabilities", async () => {
  await using cleanUp = new AsyncDisposableStack()
  const dataDir = await mkdtemp(join(tmpdir(), 'croft-capabilities-'))
  cleanUp.defer(() => rm(dataDir, { recursive: true, force: true }))
  await chown(dataDir, DAEMON, DAEMON)
  const unit = await readFile(UNIT, 'utf8')
  const ambient = setting(unit, 'AmbientCapabilities')
  expect(ambient).toEqual(['net_bind_service'])
  const given = ['-all', ...ambient.map((name) => `+${name}`)].join()
  const command = ['setpriv', `--reuid=${DAEMON}`, `--regid=${DAEMON}`, '--clear-groups']
  const bounded = ['-all', ...setting(unit, 'CapabilityBoundingSet').map((name) => `+${name}`)]
  command.push(`--inh-caps=${given}`, `--ambient-caps=${given}`, `--bounding-set=${bounded.join()}`)
  command.push('--no-new-privs', '--', process.execPath)
  command.push(join(inject('builtProgram'), 'bin/croft.js'), 'serve')
  const env = { CROFT_SANDBOX_REQUIRE: 'jail' }
  const croft = await CroftProcess.start({ dataDir, command, env })
  cleanUp.use(croft)
  await croft.printed('croft site verify')
  expect((await croft.hello('Ada')).json).toMatchObject({ ok: true })
  const status = await readFile(`/proc/${croft.pid}/status`, 'utf8')
  expect(status).toMatch(/^CapAmb:\t0*400$/m)
  const inside = croft.processes().filter((one) => one.command.includes('bwrap'))
  expect(inside.length).toBeGreaterThan(0)
  for (const { pid } of inside) {
    expect(await readFile(`/proc/${pid}/status`, 'utf8')).toMatch(/^CapAmb:\t0*$/m)
  }
})

/** The capabilities of a setting, as setpriv names them. */
function setting(unit: string, name: string): string[] {
  const [, value = ''] = new RegExp(`^${name}=(.*)$`, 'm').exec(unit) ?? []
  return value.split(' ').map((word) => word.replace(/^CAP_/, '').toLowerCase())
}
