/** Where the system's programs are, whatever the home puts before them. */
export const toolPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
