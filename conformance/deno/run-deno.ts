import { glob } from 'node:fs/promises'
import { join, resolve } from 'node:path'

import type { SuiteOptions } from '#conformance/conformance-options.ts'
import type { Lanes } from '#conformance/lanes/lane.ts'
import type { GroupResult } from '#conformance/report.ts'
import { Tally } from '#conformance/tally.ts'

import { bundleTests } from './bundle-tests.ts'

const SUFFIX = '_test.ts'

/** Runs the files of Deno's unit tests that are asked for; each is a group of its own. */
export async function runDeno(
  { folder, only, match }: Pick<SuiteOptions, 'folder' | 'only' | 'match'>,
  lanes: Lanes,
): Promise<GroupResult[]> {
  const paths = await Array.fromAsync(glob(`**/*${SUFFIX}`, { cwd: folder }))
  const wanted = paths.filter(
    (path) => path.includes(match) && (!only || only.includes(path.slice(0, -SUFFIX.length))),
  )
  const results: GroupResult[] = []
  for (const path of wanted.toSorted()) {
    lanes.progress(path)
    results.push(await runFile(folder, path, lanes))
  }
  return results
}

async function runFile(folder: string, path: string, lanes: Lanes): Promise<GroupResult> {
  const ours = new Tally()
  const beside = lanes.beside && new Tally()
  const group = path.slice(0, -SUFFIX.length)
  try {
    const source = await bundleTests(resolve(join(folder, path)))
    const job = { form: 'module', source, root: folder } as const
    await Promise.all([
      lanes.ours.run(job).then((outcome) => ours.add(path, outcome)),
      lanes.beside?.run(job).then((outcome) => beside?.add(path, outcome)),
    ])
  } catch (error) {
    const crashed = { findings: [], ending: 'crashed', message: String(error) } as const
    ours.add(path, crashed)
    beside?.add(path, crashed)
  }
  if (beside) ours.addMissing(beside)
  return { group, files: 1, ours, beside }
}
