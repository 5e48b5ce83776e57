export default {
  files: ['build/test/long/**/*.test.js'],
  timeout: '10m',
};
