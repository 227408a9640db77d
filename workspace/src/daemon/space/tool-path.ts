/** Search path of the system's programs, which the home cannot override. */
export const toolPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
