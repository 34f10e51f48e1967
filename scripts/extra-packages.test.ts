import { readFile, readdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'

import { afterEach, describe, expect, test, vi } from 'vitest'

import { peerTests } from './peer-tests.ts'

const ROOT = resolve(import.meta.dirname, '..')

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
}
const manifest = async (folder: string): Promise<Manifest> =>
  JSON.parse(await readFile(join(ROOT, folder, 'package.json'), 'utf8'))

describe('the packages of peers/', () => {
  test('are each imported by tests, and none is a package of the product', async () => {
    const { dependencies, devDependencies } = await manifest('.')
    const own = Object.keys({ ...dependencies, ...devDependencies })
    const files = (await readdir(join(ROOT, 'test'), { recursive: true })).filter(
      (path) => /\.(?:js|ts)$/.test(path) && !path.includes('node_modules'),
    )
    const texts = await Promise.all(files.map((path) => readFile(join(ROOT, 'test', path), 'utf8')))
    const isImported = (name: string) =>
      texts.some((text) => text.includes(`'${name}'`) || text.includes(`'${name}/`))
    const peers = Object.keys((await manifest('peers')).dependencies)
    expect(peers.filter((name) => own.includes(name))).toEqual([])
    expect(peers.filter((name) => !isImported(name))).toEqual([])
  })

  test('have exact versions', async () => {
    const { dependencies } = await manifest('peers')
    for (const version of Object.values(dependencies)) expect(version).toMatch(/^\d+\.\d+\.\d+$/)
  })
})

describe('a test file that needs packages of peers/', () => {
  const FILE = 'test/tables/aws-sdk.peers.test.ts'
  const load = (isInstalled: boolean, id: string): unknown => {
    const plugin = peerTests({ isInstalled })
    if (typeof plugin.load !== 'function') throw new Error('The plugin loads nothing')
    return Reflect.apply(plugin.load, undefined, [id])
  }
  afterEach(() => vi.unstubAllEnvs())

  test('is a skipped test that says so where they are not installed', () => {
    vi.stubEnv('CI', '')
    expect(load(false, resolve(FILE))).toMatch(
      /^import \{ test \} from 'vitest'\ntest\.skip\("test\/tables\/aws-sdk\.peers\.test\.ts needs [^]*npm run peers/,
    )
  })

  test('is an error in CI', () => {
    vi.stubEnv('CI', 'true')
    expect(load(false, resolve(FILE))).toMatch(/^throw new Error\([^]*npm run peers/)
  })

  test('is cached apart', () => {
    const nameWhere = (isInstalled: boolean, ci: string) => {
      vi.stubEnv('CI', ci)
      return peerTests({ isInstalled }).name
    }
    const names = [nameWhere(true, ''), nameWhere(false, ''), nameWhere(false, 'true')]
    expect(new Set(names).size).toBe(names.length)
  })

  test('is read where they are installed, and so is every other file', () => {
    expect(load(true, resolve(FILE))).toBeUndefined()
    expect(load(false, resolve('test/tables/search.test.ts'))).toBeUndefined()
  })
})
