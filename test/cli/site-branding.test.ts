import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { type Stack, startStack } from '#test/stack.ts'

import { croft } from './croft.ts'

const PNG = Buffer.from('\x89PNG\r\n\x1a\npicture', 'latin1')

let stack: Stack
let folder: string
beforeAll(async () => {
  stack = await startStack()
  folder = await mkdtemp(join(tmpdir(), 'croft-branding-'))
})
afterAll(async () => {
  await rm(folder, { recursive: true, force: true })
  await stack[Symbol.asyncDispose]()
})

const run = (...words: string[]) =>
  croft(['site', 'branding', 'one.test', ...words], {
    CROFT_BASE_URL: stack.baseUrl('127.0.0.1'),
    CROFT_OPERATOR_KEY: stack.operatorKey,
  })

describe('croft site branding', () => {
  test('sets a color and a logo, shows them, and takes them away', async () => {
    const logo = join(folder, 'logo.png')
    await writeFile(logo, PNG)
    expect((await run()).out).toMatch(/^color +none\nlogo +none\n$/)
    const set = await run('--color', '#FFE600', '--logo', logo)
    expect(set).toMatchObject({ code: 0, err: '' })
    expect(set.out).toMatch(
      /^color +#ffe600\n +in light +buttons #ffe600 with #000000 on them, links #\w{6}\n +in dark +buttons #ffe600 with #000000 on them, links #ffe600\nlogo +\/admin\/public\/logo\/\w{16}\n$/,
    )
    expect((await run()).out).toBe(set.out)
    const { out } = await run('--color', 'none', '--logo', 'none', '--json')
    expect(JSON.parse(out)).toEqual({ color: null, logo: null, shades: null })
  })

  test('says what is wrong with a color and with a file', async () => {
    const text = join(folder, 'logo.svg')
    await writeFile(text, '<svg/>')
    const color = await run('--color', 'teal')
    expect(color).toMatchObject({ code: 1, err: expect.stringContaining('like "#0a7d55"') })
    const missing = await run('--logo', join(folder, 'missing.png'))
    expect(missing).toMatchObject({
      code: 1,
      err: expect.stringContaining('missing.png" cannot be read (ENOENT)'),
    })
    const svg = await run('--logo', text)
    expect(svg).toMatchObject({
      code: 1,
      err: expect.stringContaining('is not the picture it says'),
    })
  })
})
