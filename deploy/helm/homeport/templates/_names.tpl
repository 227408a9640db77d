{{- define "homeport.name" -}}
{{- if contains "homeport" .Release.Name -}}
{{- .Release.Name | trunc 48 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-homeport" (.Release.Name | trunc 39 | trimSuffix "-") -}}
{{- end -}}
{{- end -}}

{{- define "homeport.selector" -}}
app.kubernetes.io/name: homeport
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "homeport.labels" -}}
{{ include "homeport.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "homeport.workspaceNamespace" -}}
{{- .Values.workspaces.namespace | default .Release.Namespace -}}
{{- end -}}

{{- /* Streams and terminals stay open for hours, uploads are passed on as they arrive. Traefik does all of that by itself. */ -}}
{{- define "homeport.ingressAnnotations" -}}
{{- if eq .Values.ingress.controller "nginx" -}}
nginx.ingress.kubernetes.io/proxy-buffering: "off"
nginx.ingress.kubernetes.io/proxy-request-buffering: "off"
nginx.ingress.kubernetes.io/proxy-read-timeout: "3600"
nginx.ingress.kubernetes.io/proxy-send-timeout: "3600"
nginx.ingress.kubernetes.io/proxy-body-size: 110m
{{- end -}}
{{- end -}}
