import type { JSX } from 'preact'

/** Drawn on a grid of 16, with lines of 1.5. */
const PATHS = {
  add: 'M8 3v10M3 8h10',
  alias: 'M2.5 5.5h7a4 4 0 0 1 0 8H8M5.5 2.5l-3 3 3 3',
  archive: 'M2 3h12v3H2zM3 6v7.5h10V6M6.5 8.5h3',
  attach:
    'm13 7-5.3 5.3a3.2 3.2 0 0 1-4.5-4.5L8.7 2.3a2.1 2.1 0 0 1 3 3l-5.4 5.4a1 1 0 0 1-1.5-1.5L9.5 4.5',
  back: 'M9.5 3.5 5 8l4.5 4.5',
  bucket:
    'M2.5 4.5c0-1.1 2.5-2 5.5-2s5.5.9 5.5 2-2.5 2-5.5 2-5.5-.9-5.5-2Zm0 0 1.3 7.7c.2.7 2 1.3 4.2 1.3s4-.6 4.2-1.3l1.3-7.7',
  check: 'm3 8.5 3.2 3.2L13 5',
  chevron: 'm4.5 6.5 3.5 3.5 3.5-3.5',
  close: 'm4 4 8 8m0-8-8 8',
  code: 'M5.5 4.5 2 8l3.5 3.5m5-7L14 8l-3.5 3.5',
  contact: 'M2.5 3.5h11v8h-6l-3 2.5v-2.5h-2zM5 6.5h6M5 9h4',
  contrast: 'M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2Zm0 0v12m2-11.5v11m2-9v7',
  copy: 'M5.5 5.5v-3h8v8h-3m-8-5h8v8h-8z',
  deployment: 'M8 2.5 13.5 5v6L8 13.5 2.5 11V5zM2.5 5 8 7.5 13.5 5M8 7.5v6',
  download: 'M8 2.5v8m-3-3 3 3 3-3m-8.5 6h11',
  edit: 'm3 10.5-.5 3 3-.5 7.5-7.5L10.5 3z',
  external: 'M9 2.5h4.5V7M13 3 7.5 8.5M11.5 9v4.5h-9v-9H7',
  file: 'M4 2h5.5L13 5.5V14H4zM9 2.5V6h3.5',
  filter: 'M2.5 4h11M4.5 8h7m-5 4h3',
  function: 'M10.5 3C8.5 2.3 7.7 3.3 7.5 5L6.5 11c-.2 1.7-1 2.7-3 2M4.5 7h5',
  globe: 'M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2ZM2 8h12M8 2c-4 4-4 8 0 12 4-4 4-8 0-12Z',
  group:
    'M6 7.5a2.3 2.3 0 1 0 0-4.6 2.3 2.3 0 0 0 0 4.6ZM1.8 13c.3-2.5 2-3.7 4.2-3.7s3.9 1.2 4.2 3.7M10.5 3.2a2.2 2.2 0 0 1 0 4.2m1.3 2.2c1.4.5 2.2 1.7 2.4 3.4',
  history: 'M2.5 3v3h3M2.8 6A5.5 5.5 0 1 1 2.5 8.8M8 5v3.3l2.2 1.3',
  home: 'M2.5 7.5 8 2.5l5.5 5M4 6.5v7h8v-7M6.5 13.5v-4h3v4',
  info: 'M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2Zm0 5.5V11m0-6v.1',
  job: 'M8 2.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11ZM8 5v3.3l2.3 1.3',
  key: 'M10 2.5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7ZM7.5 8.5l-5 5m2-2 1.5 1.5',
  keyboard: 'M1.5 4h13v8h-13zM4 6.5h.1m2.5 0h.1m2.5 0h.1m2.5 0h.1M4.5 9.5h7',
  log: 'M3 3.5h10M3 6.5h10M3 9.5h6M3 12.5h8',
  mail: 'M2 3.5h12v9H2zM2 4.5l6 4.5 6-4.5',
  mailbox:
    'M2 6.5A2.5 2.5 0 0 1 4.5 4h7A2.5 2.5 0 0 1 14 6.5V12H2zM7 12V6.5A2.5 2.5 0 0 0 4.5 4M9.5 7.5h2v-2',
  menu: 'M2.5 4.5h11m-11 3.5h11m-11 3.5h11',
  moon: 'M13 9.5A5.5 5.5 0 0 1 6.5 3a5.5 5.5 0 1 0 6.5 6.5Z',
  more: 'M3.5 8h.1M8 8h.1m4.4 0h.1',
  operation: 'M9 2 3.5 9H8l-1 5 5.5-7H8z',
  palette:
    'M8 2a6 6 0 1 0 0 12c1 0 1.5-.7 1.2-1.5-.4-1.2.3-2 1.5-2H12c1.2 0 2-.8 2-2.5A6 6 0 0 0 8 2ZM5 8.5h.1M6.5 5.5h.1m3.4 0h.1',
  pause: 'M5.5 3v10m5-10v10',
  people: 'M8 8a2.7 2.7 0 1 0 0-5.4A2.7 2.7 0 0 0 8 8Zm-5.3 5.5c.4-2.7 2.5-4 5.3-4s4.9 1.3 5.3 4',
  play: 'M4.5 3v10L13 8z',
  refresh: 'M13.5 3v3.5H10M13.2 6.5A5.5 5.5 0 1 0 13.5 9',
  reply: 'M6.5 3.5 2.5 7.5l4 4M3 7.5h6a4.5 4.5 0 0 1 4.5 4.5v1',
  search: 'M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9Zm3.3 7.8 3.2 3.2',
  settings:
    'M2.5 4.5h6m3 0h2m-11 7h2m3 0h6M10 2.8a1.7 1.7 0 1 0 0 3.4 1.7 1.7 0 0 0 0-3.4ZM6 9.8a1.7 1.7 0 1 0 0 3.4 1.7 1.7 0 0 0 0-3.4Z',
  shield: 'M8 2 3 4v4c0 3 2 5 5 6 3-1 5-3 5-6V4z',
  'sign-out': 'M6.5 2.5h-4v11h4M6 8h7.5m-3-3 3 3-3 3',
  sun: 'M8 5.3a2.7 2.7 0 1 0 0 5.4 2.7 2.7 0 0 0 0-5.4ZM8 1.5v1.3m0 10.4v1.3M1.5 8h1.3m10.4 0h1.3M3.4 3.4l.9.9m7.4 7.4.9.9m0-9.2-.9.9m-7.4 7.4-.9.9',
  table: 'M2.5 3h11v10h-11zM2.5 6.5h11M6.5 6.5V13',
  terminal: 'm3.5 5 3 3-3 3M8 11.5h4.5',
  trash: 'M2.5 4.5h11M6 4.5v-2h4v2m-6 0 .5 9h7l.5-9',
  upload: 'M8 10.5v-8m-3 3 3-3 3 3m-8.5 8h11',
  usage: 'M3 13.5v-4m3.3 4v-7m3.4 7v-5m3.3 5v-10',
  visitors:
    'M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2Zm0 6.8a2 2 0 1 0 0-4 2 2 0 0 0 0 4Zm-3.7 3.4c.8-1.3 2.1-1.9 3.7-1.9s2.9.6 3.7 1.9',
  warning: 'M8 2.5 14 13H2zM8 6.5v3m0 1.8v.1',
} as const
export type IconName = keyof typeof PATHS

export interface IconProps {
  readonly name: IconName
  readonly class?: string
}

/** An icon beside words that say the same: screen readers skip it. */
export const Icon = ({ name, class: className = '' }: IconProps): JSX.Element => (
  <svg class={`icon ${className}`} viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
    <path d={PATHS[name]} />
  </svg>
)
