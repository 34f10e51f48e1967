import type ivm from 'isolated-vm'

/** What a context's host calls in it. */
export interface RuntimeReferences {
  readonly boot: ivm.Reference
  readonly files: ivm.Reference
  readonly define: ivm.Reference
  readonly names: ivm.Reference
  readonly entry: ivm.Reference
  readonly run: ivm.Reference
  readonly rejected: ivm.Reference
  readonly take: ivm.Reference
  readonly waits: ivm.Reference
}

/** Takes them; the object that had them is let go. */
export function runtimeReferences(context: ivm.Context): RuntimeReferences {
  const croft = context.global.getSync('__croft', { reference: true }) as ivm.Reference
  const get = (name: keyof RuntimeReferences): ivm.Reference =>
    croft.getSync(name, { reference: true }) as ivm.Reference
  const runtime: RuntimeReferences = {
    boot: get('boot'),
    files: get('files'),
    define: get('define'),
    names: get('names'),
    entry: get('entry'),
    run: get('run'),
    rejected: get('rejected'),
    take: get('take'),
    waits: get('waits'),
  }
  croft.release()
  return runtime
}
