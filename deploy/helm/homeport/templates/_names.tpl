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
