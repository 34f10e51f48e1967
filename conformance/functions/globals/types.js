export default async () => {
  return [
    'fetch',
    'URL',
    'Blob',
    'crypto',
    'performance',
    'navigator',
    'structuredClone',
    'queueMicrotask',
    'Request',
    'TextDecoderStream',
    'window',
    'process',
    'document',
    'global',
  ]
    .map((n) => [n, typeof globalThis[n]])
    .filter(([n]) => n !== 'process' && n !== 'global')
}
