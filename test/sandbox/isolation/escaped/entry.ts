import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import process from 'node:process'

// What an isolate would try that has broken out into the JavaScript of its process, and then native code in its place.
const [program = '', ...words] = process.argv.slice(2)

attempt('read a file in Node', () => readFileSync('/proc/self/status').length > 0)
attempt('start a program in Node', () => spawnSync(process.execPath, ['--version']).status === 0)
attempt('become a program in Node', () => {
  // It does not return when it succeeds.
  process.execve?.(program, [program, ...words], {})
  return false
})

function attempt(name: string, action: () => boolean): void {
  process.stdout.write(`${name}\t${succeeds(action) ? 1 : 0}\n`)
}

function succeeds(action: () => boolean): boolean {
  try {
    return action()
  } catch {
    return false
  }
}
