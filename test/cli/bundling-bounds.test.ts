import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'

import { bundleArtifact } from '#cli/bundle/bundle-artifact.ts'
import { scanFolder } from '#cli/site-deploy.ts'
import { installRoot } from '#config/install-root.ts'
import { childrenOf } from '#test/process-table.ts'

const LAYERS = 40
const WAIT = { timeout: 60_000, interval: 20 }

let temporary: string
let folder: string
beforeAll(async () => {
  temporary = await mkdtemp(join(tmpdir(), 'croft-bundling-'))
  folder = join(temporary, 'site')
  await mkdir(join(folder, 'dist'), { recursive: true })
  await writeFile(join(folder, 'build.yml'), 'ARTIFACT_DIR: dist\n')
  for (const [path, text] of diamond()) await writeFile(join(folder, 'dist', path), text)
})
afterAll(() => rm(temporary, { recursive: true, force: true }))

/** Two modules a layer, each of which exports everything of both of the next: 2^40 ways lead to the last one. */
function* diamond(): Generator<[path: string, text: string]> {
  const both = (layer: number): string =>
    ['a', 'b'].map((side) => `export * from './${side}${layer}.js'\n`).join('')
  for (let layer = 0; layer < LAYERS; layer += 1) {
    const next = layer + 1 < LAYERS ? both(layer + 1) : ''
    for (const side of ['a', 'b'])
      yield [`${side}${layer}.js`, `${next}export const ${side}${layer} = 1`]
  }
  yield ['main.js', `${both(0)}export default () => 1`]
  const config = { artifact: 'main.js' }
  const resources = [{ type: 'lambdaFunction', name: 'main', config }]
  yield ['croft.json', JSON.stringify({ resources })]
}

const esbuildsOf = (pid: number) =>
  childrenOf(pid).filter(({ command }) => command.includes('--service'))

describe('bundling a function whose modules lead to one another in very many ways', () => {
  test('ends after a while with a sentence, and ends the bundler', async () => {
    const told: string[] = []
    const artifact = await scanFolder(folder)
    const request = { folder, artifact, bound: [], progress: (line: string) => told.push(line) }
    await expect(bundleArtifact({ ...request, maxMs: 6000 })).rejects.toThrow(
      /"main\.js" was not bundled within 6 s; nothing was changed.*"export \*"/,
    )
    expect(told).toContain('Bundling "main.js": 5 s of at most 6 s')
    await vi.waitUntil(() => esbuildsOf(process.pid).length === 0, WAIT)
  })

  test.each(['SIGINT', 'SIGTERM'] as const)(
    'is ended by %s, and nothing is left of it',
    async (signal) => {
      const left = await mkdtemp(join(temporary, 'tmp-'))
      const words = ['site', 'bundle', '--from', folder, '--out', join(temporary, 'out')]
      const child = spawn(process.execPath, [join(installRoot(), 'bin/croft.js'), ...words], {
        env: { ...process.env, TMPDIR: left },
        stdio: 'ignore',
      })
      const ended = once(child, 'exit')
      const [bundler] = await vi.waitUntil(() => {
        const found = esbuildsOf(child.pid ?? 0)
        return found.length > 0 && found
      }, WAIT)
      child.kill(signal)
      expect(await ended).toEqual([null, signal])
      await vi.waitUntil(() => !isThere(bundler?.pid ?? 0), WAIT)
      expect(await readdir(left)).toEqual([])
      expect(await readdir(temporary)).not.toContain('out')
    },
  )
})

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
