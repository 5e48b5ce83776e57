export default {
  files: ['build/test/**/*.test.js'],
  timeout: '2m',
};
