import { Worker } from 'node:worker_threads'

import type { Finding, FromLane, Job } from './protocol.ts'
import { serveJobs } from './serve-jobs.ts'

/** Entry of a process that runs jobs on Node's own globals, each in a thread of its own. */
serveJobs(runInThread)

function runInThread(job: Job, send: (message: FromLane) => void): Promise<void> {
  const thread = new Worker(new URL('node-thread.ts', import.meta.url), {
    workerData: job,
    stdout: true,
    stderr: true,
  })
  return new Promise((resolve) => {
    let isOver = false
    const end = (ending: Extract<FromLane, { kind: 'ended' }>): void => {
      if (isOver) return
      isOver = true
      send(ending)
      resolve()
    }
    thread.on('message', (finding: Finding) => {
      if (isOver) return
      send({ kind: 'findings', findings: [finding] })
      if (!('done' in finding)) return
      end({ kind: 'ended', ending: 'completed', message: '' })
      void thread.terminate()
    })
    thread.on('error', (error) => end({ kind: 'ended', ending: 'crashed', message: String(error) }))
    thread.on('exit', () =>
      end({ kind: 'ended', ending: 'stuck', message: 'Nothing is left that could wake it' }),
    )
  })
}
