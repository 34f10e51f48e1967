import { describe, expect, test } from 'vitest'

import { type Module, readModule } from './module.ts'
import { sharedExports, featureCycles, sqlOutsideQueries } from './rules.ts'

const ALIASES = { '#mail/*': './src/mail/*', '#identity/*': './src/identity/*' }

const modulesOf = (files: Record<string, string>): Module[] =>
  Object.entries(files).map(([path, text]) => readModule(path, text, ALIASES))

describe('an exported name', () => {
  test('is found in every file that exports it, where more than one layer does', () => {
    const modules = modulesOf({
      'src/mail/a/one.ts': 'export const limit = 1\nexport interface Page {}\n',
      'src/identity/b.ts': 'export function limit() {}\n',
      'src/service.ts': 'export interface Page {}\n',
      'sandbox/c.ts': 'const limit = 1\nexport { limit as bound }\n',
      'sandbox/guest/d.ts': 'export const bound = 1\n',
    })
    expect([...sharedExports(modules)]).toEqual([
      ['limit', ['src/mail/a/one.ts', 'src/identity/b.ts']],
      ['Page', ['src/mail/a/one.ts', 'src/service.ts']],
    ])
  })

  test('may be exported by several files of one layer', () => {
    const modules = modulesOf({
      'src/mail/a/model.ts': 'export const limit = 1\n',
      'src/mail/b/model.ts': 'export const limit = 2\n',
    })
    expect(sharedExports(modules).size).toBe(0)
  })

  test('is one where a value and its type share it, or where it is passed on', () => {
    const modules = modulesOf({
      'src/mail/a.ts': 'export const Alias = 1\nexport type Alias = typeof Alias\n',
      'src/mail/b.ts': "export { Alias } from './a.ts'\n",
    })
    expect(sharedExports(modules).size).toBe(0)
  })
})

describe('features', () => {
  test('that import each other are a cycle, types and longer ways round too', () => {
    const modules = modulesOf({
      'src/mail/a/x.ts': "import type { Y } from '#mail/b/y.ts'\n",
      'src/mail/b/deep/y.ts': "import { z } from '#identity/c/z.ts'\n",
      'src/mail/b/y.ts': "import './deep/y.ts'\n",
      'src/identity/c/z.ts': "import { x } from '#mail/a/x.ts'\n",
      'src/mail/d/w.ts': "import { x } from '#mail/a/x.ts'\n",
    })
    expect(featureCycles(modules)).toEqual([['src/identity/c', 'src/mail/a', 'src/mail/b']])
  })

  test('are the folders of a layer: its own files belong to none', () => {
    const modules = modulesOf({
      'src/mail/a/x.ts': "import { y } from '#mail/y.ts'\n",
      'src/mail/y.ts': "import { x } from './a/x.ts'\n",
    })
    expect(featureCycles(modules)).toEqual([])
  })

  test('of the sandbox are its folders', () => {
    const modules = modulesOf({
      'sandbox/guest/a.ts': "import './web/b.ts'\n",
      'sandbox/guest/web/b.ts': "export { c } from '../c.ts'\n",
    })
    expect(featureCycles(modules)).toEqual([['sandbox/guest', 'sandbox/guest/web']])
  })
})

describe('SQL', () => {
  const text = 'await sql`\nselect 1`.execute(tx)\nawait tx\n  .selectFrom("alias").execute()\n'

  test('is found by line outside of query files', () => {
    const modules = modulesOf({ 'src/mail/service.ts': text, 'src/mail/alias-rows.ts': 'sql``' })
    expect(sqlOutsideQueries(modules)).toEqual([
      'src/mail/service.ts:1',
      'src/mail/service.ts:3',
      'src/mail/alias-rows.ts:1',
    ])
  })

  test('is allowed in query files and in the adapter', () => {
    const paths = ['src/mail/queries.ts', 'src/mail/alias-queries.ts', 'src/platform/postgres/a.ts']
    expect(
      sqlOutsideQueries(modulesOf(Object.fromEntries(paths.map((path) => [path, text])))),
    ).toEqual([])
  })
})
