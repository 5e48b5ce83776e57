export default {
  files: ['build/test/**/*.test.js', '!build/test/long/**'],
  timeout: '2m',
};
