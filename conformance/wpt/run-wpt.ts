import type { SuiteOptions } from '#conformance/conformance-options.ts'
import type { Lanes } from '#conformance/lanes/lane.ts'
import type { GroupResult } from '#conformance/report.ts'
import { Tally } from '#conformance/tally.ts'

import { AREA_NAMES, isArea } from './areas.ts'
import { findTests } from './find-tests.ts'
import { testProgram } from './program.ts'
import type { TestFile } from './test-file.ts'

/** Runs the areas that are asked for, file by file. */
export async function runWpt(
  { folder, only, match }: Pick<SuiteOptions, 'folder' | 'only' | 'match'>,
  lanes: Lanes,
): Promise<GroupResult[]> {
  const results: GroupResult[] = []
  for (const area of (only ?? AREA_NAMES).filter(isArea)) {
    const files = (await findTests(folder, area)).filter(({ path }) => path.includes(match))
    if (files.length === 0) continue
    const result: GroupResult = {
      group: area,
      files: files.length,
      ours: new Tally(),
      beside: lanes.beside && new Tally(),
    }
    for (const file of files) {
      lanes.progress(file.path)
      for (const variant of file.variants)
        await runVariant(folder, { file, variant }, [result, lanes])
    }
    if (result.beside) result.ours.addMissing(result.beside)
    results.push(result)
  }
  return results
}

async function runVariant(
  root: string,
  { file, variant }: { readonly file: TestFile; readonly variant: string },
  [{ ours, beside }, lanes]: readonly [GroupResult, Lanes],
): Promise<void> {
  const name = `${file.path}${variant}`
  const program = await testProgram(root, file, variant).catch((error: unknown) => error)
  if (typeof program !== 'string') {
    const missing = { findings: [], ending: 'crashed', message: String(program) } as const
    ours.add(name, missing)
    beside?.add(name, missing)
    return
  }
  const job = { form: 'script', source: program, root } as const
  await Promise.all([
    lanes.ours.run(job).then((outcome) => ours.add(name, outcome)),
    lanes.beside?.run(job).then((outcome) => beside?.add(name, outcome)),
  ])
}
