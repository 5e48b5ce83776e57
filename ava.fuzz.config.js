/** The seeded mutation loops of test/long, for as long as FUZZ_SECONDS says (`npm run fuzz`). */
export default {
  files: ['build/test/long/fuzz*.test.js'],
  timeout: '60m',
};
