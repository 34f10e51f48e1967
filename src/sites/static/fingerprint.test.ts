import { expect, test } from 'vitest'

import { isFingerprinted } from './fingerprint.ts'

test.each([
  'app-5XWQ3HTK.js',
  'main.3f2a1b4c.css',
  'main.3f2a1b4c.css.map',
  'static/js/787.0e4d2c0b.chunk.js',
  'assets/index-BxYz1_aQ.js',
  'assets/index-D-xKqW3a.css',
  'assets/vendor-chunk-5XWQ3HTK.js',
  '_astro/hoisted.Dm3kQ0aB.js',
  'img/logo-0123456789abcdef0123456789abcdef.svg',
])('%s carries a hash of its content', (path) => {
  expect(isFingerprinted(path)).toBe(true)
})

test.each([
  'index.html',
  'style.css',
  'my-document.pdf',
  'report-20251231.pdf',
  'photo-Holiday2025.jpg',
  'jquery-3.7.1.min.js',
  'app.bundle.js',
  'README-DOCUMENT.md',
  'hero-iPhone15Pro.jpg',
  '5XWQ3HTK.js',
  'assets/my-document.pdf',
  'assets/report-20251231.pdf',
  'assets/app.js',
  'v1.2.3-deadbeef/app.js',
])('%s does not', (path) => {
  expect(isFingerprinted(path)).toBe(false)
})
