/** Folders of the Web Platform Tests, by the name of the area that they are counted under. */
export const AREAS = {
  url: ['url'],
  urlpattern: ['urlpattern'],
  streams: ['streams'],
  encoding: ['encoding'],
  compression: ['compression'],
  FileAPI: ['FileAPI'],
  fetch: [
    'fetch/api/abort',
    'fetch/api/body',
    'fetch/api/headers',
    'fetch/api/request',
    'fetch/api/response',
  ],
  WebCryptoAPI: ['WebCryptoAPI'],
  dom: ['dom/abort', 'dom/events'],
  console: ['console'],
  webidl: ['webidl/ecmascript-binding/es-exceptions'],
  html: [
    'html/webappapis/atob',
    'html/webappapis/microtask-queuing',
    'html/webappapis/scripting/reporterror.any.js',
    'html/webappapis/timers',
  ],
  'structured-clone': [
    'html/infrastructure/safe-passing-of-structured-data',
    'html/webappapis/structured-clone',
  ],
  'hr-time': ['hr-time'],
  'user-timing': ['user-timing'],
  'performance-timeline': ['performance-timeline'],
  webmessaging: ['webmessaging'],
  xhr: ['xhr/formdata'],
  mimesniff: ['mimesniff/mime-types'],
} as const satisfies Record<string, readonly string[]>

export type Area = keyof typeof AREAS

export const AREA_NAMES: readonly string[] = Object.keys(AREAS)

export const isArea = (name: string): name is Area => Object.hasOwn(AREAS, name)
