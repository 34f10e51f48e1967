import words from './words.txt' with { type: 'text' }
export default () => words
