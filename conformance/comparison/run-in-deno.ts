import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'

import { denoBinary } from '#sandbox/guest/testing/deno.ts'

import { CALL_MODULE, type FunctionFiles, type Observed } from './function-files.ts'

/** Below /dev, where the tests have their files, Deno requires all permissions for reading. */
const PARENT = tmpdir().startsWith('/dev/') ? '/tmp' : tmpdir()
const TIMEOUT_MS = 60_000
/** As a function: it may read its own files, and has no other permission. */
const FLAGS = ['run', '--quiet', '--no-prompt', '--no-remote', '--no-config', '--no-lock']

/** Calls each file in one process of the real Deno, one after another. */
export async function runInRealDeno({ names, texts }: FunctionFiles): Promise<Observed[]> {
  const folder = await mkdtemp(join(PARENT, 'conformance-functions-'))
  const mark = `=${randomUUID()}=`
  try {
    for (const [path, text] of texts) {
      await mkdir(dirname(join(folder, path)), { recursive: true })
      await writeFile(join(folder, path), text)
    }
    await writeFile(join(folder, 'call.js'), CALL_MODULE)
    await writeFile(join(folder, 'main.js'), mainModule(names, mark))
    const printed = await promisify(execFile)(
      denoBinary(),
      [...FLAGS, `--allow-read=${folder}`, 'main.js'],
      {
        cwd: folder,
        env: {
          DENO_DIR: join(folder, 'cache'),
          DENO_NO_UPDATE_CHECK: '1',
          HOME: folder,
          LANG: 'en_US.UTF-8',
          NO_COLOR: '1',
          TZ: 'UTC',
        },
        maxBuffer: 64 * 1024 * 1024,
        timeout: TIMEOUT_MS,
      },
    )
    return observedIn(printed, mark)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Marks on both streams say what was printed by which file; the last thing a file prints is its outcome. */
function mainModule(names: readonly string[], mark: string): string {
  const imports = names.map((name, at) => `import f${at} from './${name}'\n`).join('')
  return `import { outcomeOf } from './call.js'
${imports}
const encoder = new TextEncoder()
const { stdout, stderr } = Deno
const print = (stream, text) => {
  for (let left = encoder.encode(text); left.length > 0;) left = left.subarray(stream.writeSync(left))
}
for (const handler of [${names.map((_name, at) => `f${at}`).join(', ')}]) {
  print(stdout, '${mark}' + (await outcomeOf(handler)) + '${mark}')
  print(stderr, '${mark}')
}
Deno.exit(0)
`
}

function observedIn(printed: { stdout: string; stderr: string }, mark: string): Observed[] {
  const out = printed.stdout.split(mark)
  const errors = printed.stderr.split(mark)
  return errors.slice(0, -1).map((stderr, at) => ({
    outcome: out[at * 2 + 1] ?? '',
    stdout: out[at * 2] ?? '',
    stderr,
  }))
}
