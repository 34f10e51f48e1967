/** How a file that is not text is written among the texts of an artifact. */
export const DATA_URL = 'data:;base64,'

const READS_FILES = /\b(?:readTextFile|readFile)(?:Sync)?\b/
const IMPORTS_DATA = /\bwith\s*\{\s*(?:type|'type'|"type")\s*:\s*['"](?:text|bytes|json)['"]/

/** Whether a script may read files while it runs. */
export const readsFiles = (code: string): boolean => READS_FILES.test(code)

/** Whether a script may need the files of its artifact that are not scripts. */
export const mayNeedData = (code: string): boolean => readsFiles(code) || IMPORTS_DATA.test(code)
